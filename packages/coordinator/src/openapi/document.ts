/** The whole API as an OpenAPI 3.1 document, from the tables and schemas that serve it. */
import { accountPaths } from './paths/account-paths.js';
import { agentPaths, devicePaths } from './paths/agent-paths.js';
import { assetPaths, modelPaths } from './paths/asset-paths.js';
import { consolePaths } from './paths/console-paths.js';
import { errorComponents } from './error-answers.js';
import type { DescribedKinds } from './inference-answers.js';
import { inferencePaths } from './paths/inference-paths.js';
import { filePaths } from './paths/file-paths.js';
import { jobPaths } from './paths/job-paths.js';
import type { OpenApiDocument } from './open-api.js';
import type { Tag } from './operation.js';
import { operatorPaths } from './paths/operator-paths.js';
import { PARAMETERS } from './parameters.js';
import { HEADERS } from './response-headers.js';
import { componentSchemas } from './schemas.js';
import { translatedPaths } from './paths/translated-paths.js';
import { webhooks } from './webhooks.js';

/** The version of the API description (specification, section 9). */
const VERSION = '1.0.0';

/** `publicUrl`: the origin that callers use, without a trailing slash. */
export function createDocument(publicUrl: string, kinds: DescribedKinds): OpenApiDocument {
  return {
    openapi: '3.1.1',
    info: INFO,
    servers: [{ url: publicUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: {
      ...modelPaths(),
      ...inferencePaths(kinds),
      ...translatedPaths(),
      ...jobPaths(),
      ...filePaths(),
      ...assetPaths(),
      ...accountPaths(),
      ...consolePaths(),
      ...operatorPaths(),
      ...devicePaths(),
      ...agentPaths(),
    },
    webhooks: webhooks(),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: PARAMETERS,
      headers: HEADERS,
      responses: errorComponents(),
      schemas: componentSchemas(),
    },
  };
}

const INFO = {
  title: 'Inference Gateway',
  version: VERSION,
  license: { name: 'MIT', identifier: 'MIT' },
  description:
    'An OpenAI-compatible API over the GPUs that members have at home. Set the base URL of a ' +
    'stock OpenAI client to this server’s `/v1`. Paths may end in a slash or not; `HEAD` works ' +
    'wherever `GET` does. A path that is not here answers 404 `unknown_url`, another method 405 ' +
    '`method_not_allowed` with `Allow`. Request fields that are not named pass to the model ' +
    'server, and `null` counts as absent.',
} as const;

const TAGS: Readonly<Record<Tag, string>> = {
  Models: 'What is online for the caller.',
  Inference: 'Calls that a provider answers, at once or as jobs.',
  Jobs: 'Calls that wait for a free GPU.',
  Batches: 'Up to 256 jobs submitted together, or the lines of a file.',
  Files: 'What models made for the caller.',
  Accounts: 'Becoming a member, and logging in to the dashboard.',
  Operation: 'For monitors, agents and tools.',
};

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A member’s key: `gwk_…`. Without it, `x-api-key` is read.',
  },
  joinToken: { type: 'http', scheme: 'bearer', description: 'Good for one provider: `gwj_…`.' },
  agentToken: { type: 'http', scheme: 'bearer', description: 'An agent’s own: `gwa_…`.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'gateway_session',
    description:
      'Of a browser that is logged in; over https it is `__Host-gateway_session`. What is below ' +
      '`/v1` answers to it below `/api/console/v1`.',
  },
  metricsToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The value of `GATEWAY_METRICS_TOKEN`, where it is set.',
  },
} as const;
