/** Becoming a member, and logging in to the dashboard. */
import { SMALL_BODY_ERRORS } from '../error-answers.js';
import type { Answer, Operation, Paths } from '../open-api.js';
import { jsonAnswer, jsonBody, operation } from '../operation.js';
import { headers, PLAIN_HEADERS } from '../response-headers.js';

const EXAMPLE = {
  id: '01KDVDBP00A1B2C3D4E5F6G7H8',
  name: 'Ben',
  email: 'ben@example.org',
} as const;
const GATEWAY = {
  version: '1.0.0',
  agent_version: '1.0.0',
  public_url: 'https://gateway.example.org',
  base_url: 'https://gateway.example.org/v1',
} as const;
const PASSWORD = 'correct horse battery staple';

export function accountPaths(): Paths {
  return {
    '/api/join': { post: join() },
    '/api/join/invite': { post: showInvite() },
    '/api/console/v1/session': { post: logIn(), get: tellSession(), delete: logOut() },
    '/api/console/v1/log-in': { get: tellWays() },
    '/api/console/v1/passkey/challenge': { post: challengePasskey() },
    '/api/console/v1/session/passkey': { post: logInByPasskey() },
    '/api/console/v1/oidc/start': { post: startOidc() },
    '/api/oidc/callback': { get: finishOidc() },
    '/api/console/v1/password': { post: changePassword() },
    '/api/console/v1/password/reset': { post: resetPassword() },
  };
}

function join(): Operation {
  const example = { token: 'gwi_…', name: 'Ben', password: PASSWORD, key_name: 'laptop' };
  return operation(
    {
      id: 'join',
      tag: 'Accounts',
      summary: 'Become a member with an invite',
      description: 'At most 10 tries a minute from one address.',
      body: jsonBody('Joining', example),
      answers: {
        201: jsonAnswer({
          schema: 'Member',
          description: 'The new member.',
          example: { ...EXAMPLE, key: 'gwk_…' },
          headers: PLAIN_HEADERS,
        }),
      },
      errors: ['InvalidAccount', 'InvalidInvite', 'NameTaken', ...SMALL_BODY_ERRORS],
    },
    null,
  );
}

function showInvite(): Operation {
  return operation(
    {
      id: 'showInvite',
      tag: 'Accounts',
      summary: 'See who invites you to what',
      description: 'For the holder of an open invite. At most 30 times a minute from one address.',
      body: jsonBody('InviteQuestion', { token: 'gwi_…' }),
      answers: {
        200: jsonAnswer({
          schema: 'OpenInvite',
          description: 'The invite is open.',
          example: {
            inviter: 'Anna',
            network: 'friends',
            gateway: GATEWAY.public_url,
            expires_at: 1_769_817_600,
          },
          headers: PLAIN_HEADERS,
        }),
      },
      errors: ['InvalidAccount', 'InvalidInvite', ...SMALL_BODY_ERRORS],
    },
    null,
  );
}

function logIn(): Operation {
  return operation(
    {
      id: 'logIn',
      tag: 'Accounts',
      summary: 'Log in',
      description:
        'After five wrong passwords in a row from one address, the next must wait, each time ' +
        'twice as long, up to 15 minutes. After 50 for one account, wherever they come from, the ' +
        'next waits up to 10 seconds.',
      body: jsonBody('LogIn', { email: EXAMPLE.email, password: PASSWORD }),
      answers: { 204: cookieOnly('The browser is logged in.') },
      errors: ['InvalidAccount', 'WrongPassword', 'ForeignOrigin', ...SMALL_BODY_ERRORS],
    },
    null,
  );
}

function tellWays(): Operation {
  return operation(
    {
      id: 'getLogInMethods',
      tag: 'Accounts',
      summary: 'See how one can log in',
      answers: {
        200: jsonAnswer({
          schema: 'LogInMethods',
          description: 'Besides the password.',
          example: { passkey_origin: 'https://gateway.example.org', oidc: { name: 'Example' } },
          headers: PLAIN_HEADERS,
        }),
      },
      errors: ['InternalFailure'],
    },
    null,
  );
}

function challengePasskey(): Operation {
  return operation(
    {
      id: 'challengePasskey',
      tag: 'Accounts',
      summary: 'Begin to log in with a passkey',
      description: 'At most 30 a minute from one address. A challenge lasts 5 minutes.',
      answers: {
        200: jsonAnswer({
          schema: 'PasskeyChallenge',
          description: 'What the browser needs.',
          headers: PLAIN_HEADERS,
        }),
      },
      errors: ['ForeignOrigin', 'WayNotOffered', 'TooManyTries', 'InternalFailure'],
    },
    null,
  );
}

function logInByPasskey(): Operation {
  const example = {
    id: 'ZXhhbXBsZQ',
    rawId: 'ZXhhbXBsZQ',
    type: 'public-key',
    response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' },
  };
  return operation(
    {
      id: 'logInByPasskey',
      tag: 'Accounts',
      summary: 'Log in with a passkey',
      description: 'Failed tries of an address wait, as wrong passwords do.',
      body: jsonBody('PasskeyAnswer', { response: example }),
      answers: { 204: cookieOnly('The browser is logged in.') },
      errors: [
        'InvalidAccount',
        'InvalidPasskey',
        'ForeignOrigin',
        'WayNotOffered',
        ...SMALL_BODY_ERRORS,
      ],
    },
    null,
  );
}

function startOidc(): Operation {
  return operation(
    {
      id: 'startOidc',
      tag: 'Accounts',
      summary: 'Begin to log in at the OpenID provider',
      description:
        'With an invite, a new member joins. At most 30 a minute from one address; the cookie of ' +
        'the attempt lasts 10 minutes.',
      body: jsonBody('OidcStart', { next: '/jobs' }),
      answers: {
        200: {
          ...jsonAnswer({
            schema: 'OidcUrl',
            description: 'The address at the provider, and the cookie of the attempt.',
            example: { url: 'https://id.example.org/authorize?client_id=gateway' },
            headers: [...PLAIN_HEADERS, 'Set-Cookie'],
          }),
        },
      },
      errors: [
        'InvalidAccount',
        'OidcRefused',
        'ForeignOrProofRequired',
        'WayNotOffered',
        ...SMALL_BODY_ERRORS.filter((name) => name !== 'AccountsUnavailable'),
        'ProviderUnavailable',
      ],
    },
    null,
  );
}

function finishOidc(): Operation {
  return operation(
    {
      id: 'finishOidc',
      tag: 'Accounts',
      summary: 'Come back from the OpenID provider',
      description: 'For browsers, with what the provider adds to the address.',
      answers: {
        302: {
          description:
            'To a page: of the gateway if it went well, else to log in, with the reason.',
          headers: headers(...PLAIN_HEADERS, 'Set-Cookie', 'Location'),
        },
      },
      errors: ['WayNotOffered', 'InternalFailure', 'AccountsUnavailable'],
    },
    null,
  );
}

function resetPassword(): Operation {
  return operation(
    {
      id: 'resetPassword',
      tag: 'Accounts',
      summary: 'Set a new password by a link of an admin',
      description:
        'Ends every session of the member, and logs this browser in. Failed tries of an address ' +
        'wait, as wrong passwords do.',
      body: jsonBody('PasswordReset', { token: 'gwr_…', password: PASSWORD }),
      answers: { 204: cookieOnly('It is set.') },
      errors: ['InvalidAccount', 'InvalidResetLink', 'ForeignOrigin', ...SMALL_BODY_ERRORS],
    },
    null,
  );
}

function tellSession(): Operation {
  return operation(
    {
      id: 'getSession',
      tag: 'Accounts',
      summary: 'See who is logged in',
      answers: {
        200: jsonAnswer({
          schema: 'Session',
          description: 'The member whose browser it is.',
          example: {
            member: { ...EXAMPLE, role: 'member', excerpts: true },
            expires_at: 1_769_817_600,
            gateway: GATEWAY,
          },
          headers: PLAIN_HEADERS,
        }),
      },
      errors: ['NobodyLoggedIn', 'InternalFailure', 'AccountsUnavailable'],
    },
    'session',
  );
}

function changePassword(): Operation {
  return operation(
    {
      id: 'changePassword',
      tag: 'Accounts',
      summary: 'Choose another password',
      description: 'Ends every session of the member; this browser gets a new one.',
      body: jsonBody('PasswordChange', { current: PASSWORD, password: 'another long password' }),
      answers: { 204: cookieOnly('It is changed.') },
      errors: [
        'InvalidAccount',
        'WrongPasswordOrNotLoggedIn',
        'ForeignOrProofRequired',
        ...SMALL_BODY_ERRORS,
      ],
    },
    'session',
  );
}

function logOut(): Operation {
  return operation(
    {
      id: 'logOut',
      tag: 'Accounts',
      summary: 'Log out',
      description: 'Also where nobody is logged in.',
      answers: { 204: cookieOnly('The session is over.') },
      errors: ['ForeignOrigin', 'InternalFailure', 'AccountsUnavailable'],
    },
    'session',
  );
}

function cookieOnly(description: string): Answer {
  return { description, headers: headers(...PLAIN_HEADERS, 'Set-Cookie') };
}
