/**
 * The models on a member's own machines. Only their owner gets here, whatever their role: there is
 * no such operation for administrators. The agent checks everything again.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { ASK_REFUSALS } from '@inference-gateway/shared/protocol/asks';
import type { Reply } from '@inference-gateway/shared/protocol/asks';
import {
  MAX_MODEL_NAME,
  modelActivityBody,
  MODELS_CANCEL,
  MODELS_LIST,
  modelsBody,
} from '@inference-gateway/shared/protocol/model-asks';
import type { ModelAction, ModelActivity } from '@inference-gateway/shared/protocol/model-asks';
import * as z from 'zod';
import type { Provider } from '../../store/port.js';
import { askAgent, NotAsked } from './agent-questions.js';
import { nameOf } from '../provider-view.js';
import { change, read } from './command.js';
import type { Mine } from './command.js';
import { ownProvider } from './own.js';

const oneProvider = z.strictObject({ provider: z.string() });

const LENGTH_RULE = `a model's name has 1 to ${MAX_MODEL_NAME} characters`;

const oneModel = oneProvider.extend({
  service: z.string().min(1).max(256),
  model: z.string().min(1, LENGTH_RULE).max(MAX_MODEL_NAME, LENGTH_RULE),
});

const onePull = oneProvider.extend({ action: z.string().min(1).max(256) });

export const MY_MODELS = {
  /** What each local server has, and what its owner may do with it from here. */
  'provider.models': read(oneProvider, async (mine, args) => {
    const provider = await ownProvider(mine, args);
    try {
      const asked = question(mine, provider, [MODELS_LIST, {}]);
      const told = await askAgent(mine.context, asked).last;
      const { manages, ...models } = bodyOf(told, modelsBody);
      return manages ? ({ state: 'on', ...models } as const) : ({ state: 'off' } as const);
    } catch (error) {
      if (!(error instanceof NotAsked) || error.outcome === 'busy') throw error;
      return { state: error.outcome };
    }
  }),
  'provider.model-load': acting('load'),
  'provider.model-unload': acting('unload'),
  'provider.model-pull': acting('pull'),
  'provider.model-delete': acting('delete'),
  'pull.cancel': change(onePull, async (mine, args) => {
    const provider = await ownProvider(mine, args);
    const asked = question(mine, provider, [MODELS_CANCEL, { action: args.action }]);
    const { activity } = bodyOf(await askAgent(mine.context, asked).last, modelActivityBody);
    const { model, state: outcome } = activity;
    await audit(mine, provider, { action: 'pull.cancel', model, outcome });
    return activity;
  }),
};

/** Answers once it has begun or, if it is quick, ended. */
function acting(action: ModelAction) {
  return change(oneModel, async (mine, args): Promise<ModelActivity> => {
    const provider = await ownProvider(mine, args);
    const { service, model } = args;
    const tell = (): void => mine.context.onModels?.(mine.member.id);
    const told = { service_id: service, model };
    const asked = question(mine, provider, [`models.${action}`, told]);
    const { first, last } = askAgent(mine.context, asked, tell);
    const reply = await first;
    const about = { action: `provider.model-${action}`, service, model };
    await audit(mine, provider, { ...about, outcome: outcomeOf(reply) });
    if (!reply.last) {
      const ended = last.then((end) =>
        audit(mine, provider, { ...about, outcome: outcomeOf(end) }),
      );
      // The coordinator stops, or its database refuses: the agent's own log has it.
      ended.catch(() => {});
    }
    return bodyOf(reply, modelActivityBody).activity;
  });
}

function question(
  { member }: Mine,
  { id: providerId }: Provider,
  [topic, args]: readonly [string, Readonly<Record<string, unknown>>],
) {
  return { providerId, memberId: member.id, by: member.name, topic, args: { ...args } };
}

/** Throws a `CommandError` with the agent's words if it refuses. */
function bodyOf<T>({ refusal, body }: Reply, schema: z.ZodType<T>): T {
  if (refusal !== undefined) {
    const { code, message } = refusal;
    if (code === ASK_REFUSALS.unknown) throw new NotAsked('older');
    throw new CommandError(USAGE.has(code) ? EXIT.usage : EXIT.conflict, message);
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new CommandError(EXIT.conflict, 'the agent on the machine answered something else.');
}

const USAGE: ReadonlySet<string> = new Set(['invalid_name']);

function outcomeOf({ refusal, body }: Reply): string {
  if (refusal !== undefined) return `refused: ${refusal.code}`;
  const activity = modelActivityBody.safeParse(body).data?.activity;
  return activity === undefined || activity.state === 'running' ? 'begun' : activity.state;
}

interface Audited {
  readonly action: string;
  readonly model: string;
  readonly service?: string;
  readonly outcome: string;
}

async function audit(
  { context: { store } }: Mine,
  provider: Provider,
  { action, ...after }: Audited,
): Promise<void> {
  const subject = { kind: 'provider', id: provider.id, name: nameOf(provider) };
  await store.recordAudit({ action, subject, before: null, after });
}
