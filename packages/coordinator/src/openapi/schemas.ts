/** Every named schema of the document: requests and answers. */
import { ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';
import { REQUEST_SCHEMAS } from '@inference-gateway/shared/openai/request-schemas';
import * as accounts from './account-resources.js';
import * as agents from './agent-resources.js';
import { ENDPOINT_TEXTS } from './endpoint-texts.js';
import type { RequestSchemaName } from './endpoint-texts.js';
import { batchRequest, webhook, errorBody, errorDetail } from './job-resources.js';
import * as jobs from './job-resources.js';
import * as media from './media-resources.js';
import type { JsonSchema, Reference } from './open-api.js';
import * as operators from './operator-resources.js';
import * as texts from './text-resources.js';
import * as translated from './translated-resources.js';
import { toJsonSchemas, toReference } from './to-json-schema.js';

const hook = { webhook: webhook.nullish() };

/** Requests of the endpoints with JSON bodies. */
const INFERENCE_REQUESTS = Object.fromEntries(
  ENDPOINT_KEYS.flatMap((key) => {
    const schema = ENDPOINT_TEXTS[key]?.schema ?? null;
    return schema === null ? [] : [[schema, REQUEST_SCHEMAS[key].extend(hook)] as const];
  }),
);

const REQUESTS = {
  Webhook: webhook,
  BatchRequest: batchRequest,
  FileBatchRequest: jobs.fileBatchRequest,
  FileUpload: jobs.fileUpload,
  ResponseRequest: translated.responseRequest,
  MessagesRequest: translated.messagesRequest,
  TokenCountRequest: translated.tokenCountRequest,
  EnrollmentRequest: operators.enrollmentRequest,
  DeviceLogInRequest: operators.deviceLogInRequest,
  DeviceTokenRequest: operators.deviceTokenRequest,
  NewAgentShare: agents.newAgentShare,
  Joining: accounts.joining,
  InviteQuestion: accounts.inviteQuestion,
  OpenInvite: accounts.openInvite,
  LogIn: accounts.logIn,
  PasswordChange: accounts.passwordChange,
  PasswordReset: accounts.passwordReset,
  PasskeyAnswer: accounts.passkeyAnswer,
  OidcStart: accounts.oidcStart,
  Setup: accounts.setup,
  CommandArgs: accounts.commandArgs,
} as const;

const RESOURCES = {
  Welcome: operators.welcome,
  Health: operators.health,
  Readiness: operators.readiness,
  Enrollment: operators.enrollment,
  DeviceLogIn: operators.deviceLogIn,
  AgentSelf: agents.agentSelf,
  AgentShare: agents.ownShare,
  SharedNow: agents.sharedNow,
  Member: accounts.member,
  Session: accounts.session,
  LogInMethods: accounts.logInMethods,
  PasskeyChallenge: accounts.passkeyChallenge,
  OidcUrl: accounts.oidcUrl,
  FirstAdmin: accounts.firstAdmin,
  CommandResult: accounts.commandResult,
  Model: media.model,
  ModelList: media.modelList,
  ChatCompletion: texts.chatCompletion,
  ChatCompletionChunk: texts.chatCompletionChunk,
  Completion: texts.completion,
  CompletionChunk: texts.completionChunk,
  Response: translated.response,
  ResponseEvent: translated.responseEvent,
  Message: translated.message,
  MessageEvent: translated.messageEvent,
  TokenCount: translated.tokenCount,
  MessagesError: translated.messagesError,
  EmbeddingList: texts.embeddingList,
  Ranking: texts.ranking,
  Transcription: texts.transcription,
  VoiceList: texts.voiceList,
  ImageResponse: media.imageResponse,
  FileList: media.fileList,
  Asset: media.asset,
  AssetList: media.assetList,
  DeletedAsset: media.deletedAsset,
  Job: jobs.job,
  ErrorDetail: errorDetail,
  JobList: jobs.jobList,
  JobCancellation: jobs.jobCancellation,
  Batch: jobs.batch,
  FileBatch: jobs.fileBatch,
  BatchList: jobs.batchList,
  ApiFile: jobs.apiFile,
  ApiFileList: jobs.apiFileList,
  DeletedFile: jobs.deletedFile,
  QueueSummary: jobs.queueSummary,
  JobFinished: jobs.jobFinished,
  BatchFinished: jobs.batchFinished,
  Error: errorBody,
} as const;

export type SchemaName = RequestSchemaName | keyof typeof REQUESTS | keyof typeof RESOURCES;

export function ref(name: SchemaName): Reference {
  return toReference(name);
}

export function componentSchemas(): Record<string, JsonSchema> {
  const requests = { ...INFERENCE_REQUESTS, ...REQUESTS };
  return { ...toJsonSchemas(requests, 'input'), ...toJsonSchemas(RESOURCES, 'output') };
}
