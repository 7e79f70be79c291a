/** Paths without an API key: health checks, metrics, enrolment, and this document. */
import { ENROLL_PATH } from '@inference-gateway/shared/protocol/version';
import type { Answer, Operation, Paths } from '../open-api.js';
import { jsonAnswer, jsonBody, operation } from '../operation.js';
import type { OperationParts } from '../operation.js';
import { headers, PLAIN_HEADERS } from '../response-headers.js';

export const ENROLLMENT_EXAMPLE = {
  provider_id: '01KDVDBP00A1B2C3D4E5F6G7H8',
  name: 'den-pc',
  token: 'gwa_…',
  approved: true,
} as const;

export function operatorPaths(): Paths {
  return {
    '/': { get: greet() },
    '/healthz': { get: tellHealth() },
    '/readyz': { get: tellReadiness() },
    '/metrics': { get: tellMetrics() },
    '/openapi.json': { get: describe() },
    '/install.sh': { get: installScript('getInstallSh', 'Linux and macOS') },
    '/install.ps1': { get: installScript('getInstallPs1', 'Windows') },
    '/download/{file}': { get: download() },
    '/api/feed': { get: readFeed() },
    [ENROLL_PATH]: { post: enroll() },
  };
}

type Parts = Omit<OperationParts, 'id' | 'tag'>;

function greet(): Operation {
  return open('getWelcome', {
    summary: 'See that a gateway is here',
    answers: {
      200: plain('Welcome', 'Where the API is.', { name: 'inference-gateway', api: '/v1' }),
    },
  });
}

function tellHealth(): Operation {
  return open('getHealth', {
    summary: 'See that the process lives',
    answers: { 200: plain('Health', 'It does.', { status: 'ok' }) },
  });
}

function tellReadiness(): Operation {
  return open('getReadiness', {
    summary: 'See that calls can be served',
    answers: { 200: plain('Readiness', 'They can.', { status: 'ready' }) },
    errors: ['NotReady'],
  });
}

function tellMetrics(): Operation {
  const description = 'In the text format of Prometheus.';
  return operation(
    {
      id: 'getMetrics',
      tag: 'Operation',
      summary: 'Read the metrics',
      description: 'Only where they are switched on, and not on a port of their own.',
      answers: { 200: { ...documentAnswer(description, 'text/plain', 'string') } },
      errors: ['InvalidToken'],
    },
    'metricsToken',
  );
}

function describe(): Operation {
  return open('getOpenApi', {
    summary: 'Get this document',
    answers: { 200: documentAnswer('OpenAPI 3.1.', 'application/json', 'object') },
  });
}

function installScript(id: string, system: string): Operation {
  const description = 'For this address, with the digest of each file that it fetches.';
  return open(id, {
    summary: `Get the script that installs an agent on ${system}`,
    answers: { 200: documentAnswer(description, 'text/plain', 'string') },
    errors: ['CommandNotFound', 'CommandConflict', 'TooManyTries'],
  });
}

function download(): Operation {
  const description = 'The list of the release, its signature, or one of its files.';
  const whole = documentAnswer(description, 'application/octet-stream', 'string');
  return open('getDownload', {
    summary: 'Get a file of the release that is handed out for agents',
    parameters: ['DownloadFile', 'Range', 'IfNoneMatch'],
    answers: {
      200: {
        ...whole,
        content: { ...whole.content, 'text/plain': { schema: { type: 'string' } } },
      },
      206: { ...whole, description: 'A part of the file.' },
      304: { description: 'The caller has it.', headers: headers(...PLAIN_HEADERS) },
    },
    errors: ['CommandNotFound', 'TooManyTries', 'EnrollmentUnavailable'],
  });
}

function readFeed(): Operation {
  const description = 'The latest 50 events, the newest first.';
  return open('getFeed', {
    summary: 'Read the Atom feed of a member',
    parameters: ['FeedToken'],
    answers: { 200: documentAnswer(description, 'application/atom+xml', 'string') },
    errors: ['CommandNotFound', 'TooManyTries', 'InternalFailure', 'AccountsUnavailable'],
  });
}

function enroll(): Operation {
  return operation(
    {
      id: 'enrollProvider',
      tag: 'Operation',
      summary: 'Register a provider with a join token',
      description: 'What `gateway-agent enroll` sends. A join token is good for one provider.',
      body: jsonBody('EnrollmentRequest', { name: 'den-pc' }),
      answers: {
        200: plain('Enrollment', 'The provider and its agent’s token.', ENROLLMENT_EXAMPLE),
      },
      errors: [
        'InvalidEnrollment',
        'InvalidToken',
        'NameTaken',
        'EnrollmentTooLarge',
        'UnsupportedEnrollment',
        'InternalFailure',
        'EnrollmentUnavailable',
      ],
    },
    'joinToken',
  );
}

function open(id: string, parts: Parts): Operation {
  return operation({ ...parts, id, tag: 'Operation' }, null);
}

type OperatorSchema = 'Welcome' | 'Health' | 'Readiness' | 'Enrollment';

function plain(schema: OperatorSchema, description: string, example: object): Answer {
  return jsonAnswer({ schema, description, example, headers: PLAIN_HEADERS });
}

function documentAnswer(description: string, contentType: string, type: 'string' | 'object') {
  return {
    description,
    headers: headers(...PLAIN_HEADERS),
    content: { [contentType]: { schema: { type } } },
  };
}
