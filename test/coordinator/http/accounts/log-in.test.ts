import { LogIn } from '@inference-gateway/coordinator/http/accounts/log-in';
import { LogInCounts } from '@inference-gateway/coordinator/core/access/log-in-throttle';
import { ApiError } from '@inference-gateway/shared/errors';
import { expect, test } from 'vitest';

const OWNER = 'dora@example.org';
const RIGHT = 'right';

/** Compares passwords without hashing. */
function createLogIn(): LogIn {
  const limits = { requests: null, concurrent: null };
  const member = { id: 'dora', email: OWNER, name: 'dora', role: 'member', limits } as const;
  const found = {
    ...member,
    createdAt: 0,
    disabledAt: null,
    hasPassword: true,
    keepsExcerpts: true,
  };
  const findPassword = (email: string) =>
    Promise.resolve(email === OWNER ? { member: found, passwordHash: RIGHT } : null);
  return new LogIn({ findPassword }, { check }, new LogInCounts(() => performance.now()));
}

function check(password: string, stored: string | null): Promise<boolean> {
  return Promise.resolve(password === stored);
}

/**
 * The id of the logged-in member, null for a wrong password, or the error code if it came too soon.
 */
async function attempt(logIn: LogIn, address: string, password: string): Promise<unknown> {
  try {
    const proven = await logIn.attempt({ email: OWNER, password, address });
    return proven?.memberId ?? null;
  } catch (error) {
    return error instanceof ApiError ? error.code : error;
  }
}

/** From each stranger's address, as many wrong passwords as are free of a wait. */
async function guessFrom(strangers: number, logIn: LogIn): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (let n = 0; n < strangers * 5; n++) {
    outcomes.push(await attempt(logIn, `198.51.100.${Math.floor(n / 5)}`, `wrong ${n}`));
  }
  return outcomes;
}

test('a stranger who guesses at an account does not keep its owner out', async () => {
  const logIn = createLogIn();
  await guessFrom(1, logIn);
  expect(await attempt(logIn, '198.51.100.0', RIGHT)).toBe('rate_limit_exceeded');
  expect(await attempt(logIn, '192.0.2.1', RIGHT)).toBe('dora');
  expect(await attempt(logIn, '198.51.100.0', RIGHT)).toBe('rate_limit_exceeded');
});

test('fifty wrong ones from many addresses slow down the next tries at that account', async () => {
  const logIn = createLogIn();
  expect(await guessFrom(10, logIn)).toEqual(Array.from({ length: 50 }, () => null));
  expect(await attempt(logIn, '192.0.2.1', RIGHT)).toBe('rate_limit_exceeded');
});

test('the owner who gets in ends what was held against the account', async () => {
  const logIn = createLogIn();
  await guessFrom(9, logIn);
  expect(await attempt(logIn, '192.0.2.1', RIGHT)).toBe('dora');
  expect(await attempt(logIn, '192.0.2.2', 'wrong')).toBeNull();
  const more = await Promise.all(
    Array.from({ length: 10 }, (_, n) => attempt(logIn, `203.0.113.${n}`, 'wrong')),
  );
  expect(more).toEqual(more.map(() => null));
});

test('a stranger with a whole IPv6 network guesses at all accounts no faster for it', async () => {
  const logIn = createLogIn();
  const guess = (n: number): Promise<unknown> =>
    logIn
      .attempt({
        email: `${n}@example.org`,
        password: 'wrong',
        address: `2001:db8:7:${n.toString(16)}::1`,
      })
      .catch((error: unknown) => (error as ApiError).code);
  const outcomes = await Promise.all(Array.from({ length: 100 }, (_, n) => guess(n)));
  expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(20);
  expect(await attempt(logIn, '2001:db8:8:1::1', RIGHT)).toBe('dora');
});
