/** Requests of the dashboard besides the API, and the set-up of the first administrator. */
import { SMALL_BODY_ERRORS } from '../error-answers.js';
import type { Operation, Paths } from '../open-api.js';
import { jsonAnswer, jsonBody, operation } from '../operation.js';
import { headers, PLAIN_HEADERS } from '../response-headers.js';

export function consolePaths(): Paths {
  return {
    '/api/setup': { get: tellSetup(), post: setUp() },
    '/api/console/v1/my/{command}': {
      get: ask('askOwn', 'See what is one’s own'),
      post: act('changeOwn', 'Change what is one’s own'),
    },
    '/api/console/v1/admin/{command}': {
      get: ask('askAsAdmin', 'See what an administrator may see'),
      post: act('changeAsAdmin', 'Do what an administrator may do'),
    },
  };
}

const NOTHING = { description: 'Nobody is a member yet.', headers: headers(...PLAIN_HEADERS) };

function tellSetup(): Operation {
  return operation(
    {
      id: 'tellSetup',
      tag: 'Accounts',
      summary: 'See whether the first administrator is still to be made',
      answers: { 204: NOTHING },
      errors: ['SetUpAlready', 'InternalFailure'],
    },
    null,
  );
}

function setUp(): Operation {
  const example = {
    token: 'gwf_…',
    name: 'Anna',
    email: 'anna@example.org',
    password: 'correct horse battery staple',
  };
  return operation(
    {
      id: 'setUp',
      tag: 'Accounts',
      summary: 'Become the first administrator',
      description:
        'With the link that `start` prints where nobody is a member. It logs the browser in, and ' +
        'works once. At most 10 tries a minute from one address.',
      body: jsonBody('Setup', example),
      answers: {
        201: {
          ...jsonAnswer({
            schema: 'FirstAdmin',
            description: 'The administrator.',
            example: {
              id: '01KDVDBP00A1B2C3D4E5F6G7H8',
              name: 'Anna',
              email: 'anna@example.org',
              role: 'admin',
            },
          }),
          headers: headers(...PLAIN_HEADERS, 'Set-Cookie'),
        },
      },
      errors: ['InvalidAccount', 'InvalidSetupLink', 'SetUpAlready', ...SMALL_BODY_ERRORS],
    },
    null,
  );
}

const COMMANDS =
  'A command is a noun and a verb, as `key.list`, and takes and answers what ' +
  '`gateway-coordinator` does, with times in Unix ms. These are for the pages of this gateway: ' +
  'they change with it.';

function ask(id: string, summary: string): Operation {
  return operation(
    {
      id,
      tag: 'Accounts',
      summary,
      description: COMMANDS,
      parameters: ['Command', 'CommandArgs', 'IfNoneMatch'],
      answers: {
        200: jsonAnswer({
          schema: 'CommandResult',
          description: 'What the command tells.',
          headers: PLAIN_HEADERS,
        }),
        304: { description: 'As before.', headers: headers(...PLAIN_HEADERS) },
      },
      errors: [
        'InvalidAccount',
        'NotLoggedIn',
        'NotAllowed',
        'CommandNotFound',
        'CommandConflict',
        'InternalFailure',
        'AccountsUnavailable',
      ],
    },
    'session',
  );
}

function act(id: string, summary: string): Operation {
  return operation(
    {
      id,
      tag: 'Accounts',
      summary,
      description: `${COMMANDS} At most 120 changes a minute.`,
      parameters: ['Command'],
      body: jsonBody('CommandArgs', { name: 'laptop', scope: 'any', expires_in_s: null }),
      answers: {
        200: jsonAnswer({
          schema: 'CommandResult',
          description: 'What the command has done.',
          headers: PLAIN_HEADERS,
        }),
      },
      errors: [
        'InvalidAccount',
        'NotLoggedIn',
        'NotAllowed',
        'CommandNotFound',
        'CommandConflict',
        ...SMALL_BODY_ERRORS,
      ],
    },
    'session',
  );
}
