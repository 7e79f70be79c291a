/** How a machine without a join token is let in. */
import { DEVICE_PATH, DEVICE_TOKEN_PATH } from '@inference-gateway/shared/protocol/version';
import { SMALL_BODY_ERRORS } from './error-answers.js';
import type { Operation, Paths } from './open-api.js';
import { jsonAnswer, jsonBody, operation } from './operation.js';
import { ENROLLMENT_EXAMPLE } from './operator-paths.js';
import { PLAIN_HEADERS } from './response-headers.js';

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
