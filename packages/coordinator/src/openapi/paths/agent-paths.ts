/** Requests of an agent with its own token. */
import {
  SELF_PATH,
  SHARES_PATH,
  DEVICE_PATH,
  DEVICE_TOKEN_PATH,
} from '@inference-gateway/shared/protocol/version';
import { SMALL_BODY_ERRORS } from '../error-answers.js';
import type { ErrorAnswerName } from '../error-answers.js';
import type { Operation, Paths } from '../open-api.js';
import { jsonAnswer, jsonBody, operation } from '../operation.js';
import { headers, PLAIN_HEADERS } from '../response-headers.js';
import { ENROLLMENT_EXAMPLE } from './operator-paths.js';

const TOKEN_ERRORS = [
  'InvalidToken',
  'OwnerDisabled',
  'TooManyTries',
  'InternalFailure',
  'AccountsUnavailable',
] as const satisfies readonly ErrorAnswerName[];

const SHARE = {
  id: '01KDVDBP00A1B2C3D4E5F6G7H8',
  service_id: null,
  model: 'llama3.2:3b',
  network: 'friends',
  member: null,
  slots: 1,
  hours: '22:00-07:00 Europe/Berlin',
  max_tokens: null,
  day: 'requests=200,tokens=1000000',
  month: null,
  created_at: 1_769_817_600_000,
} as const;
const USED = {
  day: { requests: 12, tokens: 30_500, images: 0, audio_s: 0, until: 1_769_904_000_000 },
  month: { requests: 240, tokens: 512_000, images: 0, audio_s: 0, until: 1_769_904_000_000 },
} as const;

export function agentPaths(): Paths {
  return {
    [SELF_PATH]: { get: tellSelf() },
    [SHARES_PATH]: { post: share() },
    [`${SHARES_PATH}/{id}`]: { delete: unshare() },
  };
}

function tellSelf(): Operation {
  const example = {
    provider_id: '01KDVDBP00A1B2C3D4E5F6G7H9',
    name: 'den-pc',
    owner: 'Anna',
    approved: true,
    draining: false,
    version: '0.1.0',
    protocols: ['gw-agent.v1'],
    server_time: 1_769_817_600_123,
    networks: [{ id: '01KDVDBP00A1B2C3D4E5F6G7HA', name: 'friends', members: 3 }],
    shares: [{ ...SHARE, used: USED }],
  };
  const description = 'Who the agent is here, its owner’s networks and what of it is shared.';
  return operation(
    {
      id: 'getAgentSelf',
      tag: 'Operation',
      summary: 'See how an agent’s provider stands',
      description: 'At most 120 requests of agents a minute from one address.',
      answers: {
        200: jsonAnswer({ schema: 'AgentSelf', description, example, headers: PLAIN_HEADERS }),
      },
      errors: TOKEN_ERRORS,
    },
    'agentToken',
  );
}

function share(): Operation {
  const body = { network: 'friends', model: 'llama3.2:3b', slots: 1 };
  const hours = { hours: '22:00-07:00', time_zone: 'Europe/Berlin' };
  return operation(
    {
      id: 'createAgentShare',
      tag: 'Operation',
      summary: 'Share something of an agent’s provider with a network',
      description:
        'What is shared already takes the new caps and keeps its id. At most 256 of a provider.',
      body: jsonBody('NewAgentShare', { ...body, ...hours }),
      answers: {
        201: jsonAnswer({
          schema: 'SharedNow',
          description: 'The share.',
          example: { ...SHARE, warning: null },
          headers: PLAIN_HEADERS,
        }),
      },
      errors: ['InvalidAccount', 'NetworkNotFound', ...TOKEN_ERRORS, ...SMALL_BODY_ERRORS],
    },
    'agentToken',
  );
}

function unshare(): Operation {
  return operation(
    {
      id: 'deleteAgentShare',
      tag: 'Operation',
      summary: 'Share it no longer',
      parameters: ['ShareId'],
      answers: {
        204: { description: 'It is shared no more.', headers: headers(...PLAIN_HEADERS) },
      },
      errors: ['ShareNotFound', ...TOKEN_ERRORS],
    },
    'agentToken',
  );
}

/** Device log-in: joining without a join token. */
export function devicePaths(): Paths {
  return { [DEVICE_PATH]: { post: ask() }, [DEVICE_TOKEN_PATH]: { post: poll() } };
}

function ask(): Operation {
  return operation(
    {
      id: 'startDeviceLogIn',
      tag: 'Operation',
      summary: 'Ask to be let in without a join token',
      description:
        'What `gateway-agent login` sends, after RFC 8628. At most 10 a minute from one address.',
      body: jsonBody('DeviceLogInRequest', { name: 'den-pc', host: 'tower' }),
      answers: {
        200: jsonAnswer({
          schema: 'DeviceLogIn',
          description: 'The code to show, and how to ask whether it was approved.',
          example: {
            device_code: 'gwd_…',
            user_code: 'BCDF-GHJK',
            verification_uri: 'https://gateway.example.org/device',
            verification_uri_complete: 'https://gateway.example.org/device?code=BCDF-GHJK',
            expires_in: 600,
            interval: 5,
            approve: 'gateway-coordinator device approve BCDF-GHJK --owner <you>',
          },
          headers: PLAIN_HEADERS,
        }),
      },
      errors: ['InvalidAccount', ...SMALL_BODY_ERRORS],
    },
    null,
  );
}

function poll(): Operation {
  return operation(
    {
      id: 'finishDeviceLogIn',
      tag: 'Operation',
      summary: 'Collect the token once somebody has approved',
      description:
        'Asked again every `interval` seconds while the code is `authorization_pending`; after ' +
        '`slow_down`, 5 seconds more between two requests. The token is told once.',
      body: jsonBody('DeviceTokenRequest', { device_code: 'gwd_…' }),
      answers: {
        200: jsonAnswer({
          schema: 'Enrollment',
          description: 'The provider and its agent’s token.',
          example: ENROLLMENT_EXAMPLE,
          headers: PLAIN_HEADERS,
        }),
      },
      errors: ['DeviceRefused', 'NameTaken', ...SMALL_BODY_ERRORS],
    },
    null,
  );
}
