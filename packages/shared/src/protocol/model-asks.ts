/** The topics of ASK about the models of local servers: what each end says. */
import * as z from 'zod';

export const MODEL_ACTIONS = ['load', 'unload', 'pull', 'delete'] as const;

export type ModelAction = (typeof MODEL_ACTIONS)[number];

/** `models.load` and so on: args `{service_id, model}`, and the action's state as body. */
export const MODELS_LIST = 'models.list';

/** args `{action}`: the id of a pull. */
export const MODELS_CANCEL = 'models.cancel';

/** Characters of a model's name. */
export const MAX_MODEL_NAME = 200;

/** Models in one answer, of all servers together. */
export const MAX_MODELS_LISTED = 500;

const name = z.string().min(1).max(256);

export const modelArgs = z.strictObject({ service_id: name, model: z.string().max(1_000) });

export const cancelArgs = z.strictObject({ action: name });

const bytes = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const text = z.string().max(2_000);

const keptModel = z.object({
  /** As its server calls it. */
  name: z.string().max(256),
  /** On the disk; null if the server does not tell, like all that is null here. */
  bytes: bytes.nullable(),
  loaded: z.boolean().nullable(),
  memory_bytes: bytes.nullable(),
  /** Requests of the gateway that run on it. */
  running: z.int().min(0),
  /** It was pulled by `models.pull`. */
  pulled_here: z.boolean(),
  /** What may be done with it now. */
  can: z.array(z.enum(MODEL_ACTIONS)),
});

const modelServer = z.object({
  /** The service to name in `models.load` and so on. */
  service_id: name,
  /** All services of this server. */
  services: z.array(name).max(64),
  backend: name,
  /** What it offers; `pull` is about models that it does not have yet. */
  can: z.array(z.enum(MODEL_ACTIONS)),
  /** Why its list could not be read; null if it could. */
  fault: text.nullable(),
  /** Free bytes where it keeps its models; null if the agent cannot know the place. */
  free_bytes: bytes.nullable(),
  models: z.array(keptModel).max(MAX_MODELS_LISTED),
});

/** What was asked for, from its beginning to some time after its end. */
const modelActivity = z.object({
  id: name,
  action: z.enum(MODEL_ACTIONS),
  service_id: name,
  model: z.string().max(256),
  by: name,
  state: z.enum(['running', 'done', 'failed', 'canceled']),
  /** Of a pull: `finishing` once all bytes have come. */
  phase: z.enum(['starting', 'transferring', 'finishing']),
  bytes: bytes.nullable(),
  total_bytes: bytes.nullable(),
  bytes_per_second: bytes.nullable(),
  /** Whether `models.cancel` can stop it. */
  can_cancel: z.boolean(),
  /** Why it failed. */
  message: text.nullable(),
  /** Milliseconds since 1970 by the agent's clock. */
  started_at: z.int().min(0),
  ended_at: z.int().min(0).nullable(),
});

export const modelActivityBody = z.object({ activity: modelActivity });

export const modelsBody = z.object({
  /** The owner's settings on the agent. */
  manages: z.boolean(),
  deletes_all: z.boolean(),
  max_bytes: bytes,
  min_free_bytes: bytes,
  /** Of models that were pulled this way. */
  used_bytes: bytes,
  /** Empty if the agent does not manage models. */
  servers: z.array(modelServer).max(64),
  /** More models than fit into the answer. */
  shortened: z.boolean(),
  activities: z.array(modelActivity).max(32),
});

export type ModelServerBody = z.infer<typeof modelServer>;

export type ModelActivity = z.infer<typeof modelActivity>;

export type ModelsBody = z.infer<typeof modelsBody>;
