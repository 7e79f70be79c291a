/** What the doctor says of one thing. */
export interface Check {
  readonly id: string;
  readonly name: string;
  /** A warning is worth reading and fails nothing. */
  readonly status: 'ok' | 'warning' | 'failed';
  readonly found: string;
  /** What to do; null where there is nothing to do. */
  readonly advice: string | null;
}

/** Names one check and gives the three things that it can say. */
export function checking(name: string) {
  const id = name.replaceAll(' ', '_');
  return {
    ok: (found: string): Check => ({ id, name, status: 'ok', found, advice: null }),
    warning: (found: string, advice: string): Check => ({
      id,
      name,
      status: 'warning',
      found,
      advice,
    }),
    failed: (found: string, advice: string): Check => ({
      id,
      name,
      status: 'failed',
      found,
      advice,
    }),
  };
}
