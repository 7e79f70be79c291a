/** Model actions over real catalogs of stand-ins, asked as the coordinator asks. */
import { mkdir } from 'node:fs/promises';
import { Catalog } from '@inference-gateway/agent/backends/catalog/catalog';
import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import type { ModelSettings } from '@inference-gateway/agent/config/model-settings';
import { ModelActions } from '@inference-gateway/agent/models/model-actions';
import type { MODEL_LIMITS } from '@inference-gateway/agent/models/model-runs';
import { PulledModels } from '@inference-gateway/agent/models/pulled-models';
import { PulledFile } from '@inference-gateway/agent/state/pulled-file';
import { Answers } from '@inference-gateway/agent/work/answers';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { Reply } from '@inference-gateway/shared/protocol/asks';
import { modelActivityBody, modelsBody } from '@inference-gateway/shared/protocol/model-asks';
import type { ModelActivity, ModelsBody } from '@inference-gateway/shared/protocol/model-asks';
import { onTestFinished } from 'vitest';
import { toService } from '../../support/gateway.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

export const MANAGED: ModelSettings = {
  manage: true,
  deleteAll: false,
  maxBytes: 1_000_000,
  minFreeBytes: 1_000,
  unstoppablePulls: false,
};

export interface ModelStage {
  readonly actions: ModelActions;
  readonly stateDir: string;
  /** All replies to one question, once the last one has come. */
  ask(topic: string, args?: Record<string, unknown>): Promise<readonly Reply[]>;
  /** The end of an action. Throws the refusal's code if it was refused. */
  act(action: string, model: string, serviceId?: string): Promise<ModelActivity>;
  /** Begins it and does not wait. */
  begin(action: string, model: string, serviceId?: string): Promise<ModelActivity>;
  list(): Promise<ModelsBody>;
  cancel(id: string): Promise<ModelActivity>;
}

interface StageOptions {
  readonly settings?: Partial<ModelSettings>;
  readonly limits?: Partial<typeof MODEL_LIMITS>;
  /** Of the disk; null: not known. */
  readonly freeBytes?: () => number | null;
  readonly uses?: () => readonly { serviceId: string; model: string; phase: 'running' }[];
  readonly stateDir?: string;
}

export async function modelStage(
  services: readonly Partial<ServiceConfig>[],
  options: StageOptions = {},
): Promise<ModelStage> {
  const { settings = {}, freeBytes = () => 1_000_000_000, uses = () => [] } = options;
  const stateDir = options.stateDir ?? `${await temporaryFolder()}/state`;
  await mkdir(stateDir, { recursive: true });
  const logger = createLogger('silent');
  const catalog = new Catalog(services.map((service, index) => toService(service, index)));
  await catalog.start();
  const { now } = Date;
  const pulled = new PulledModels({ file: new PulledFile(stateDir), now, logger });
  await pulled.restore();
  const actions = new ModelActions({
    settings: { ...MANAGED, ...settings },
    catalog,
    pulled,
    uses,
    now,
    logger,
    limits: { lookMs: 10, ...options.limits },
    freeBytes: async () => freeBytes(),
  });
  onTestFinished(async () => {
    catalog.close();
    await actions.close();
  });
  const answers = new Answers(actions.topics, logger);
  const say = (topic: string, args: Record<string, unknown>): Reply[] => {
    const replies: Reply[] = [];
    answers.asked({ topic, args, by: 'Anna' }, (reply) => replies.push(reply));
    return replies;
  };
  const ask = async (topic: string, args: Record<string, unknown> = {}) => {
    const replies = say(topic, args);
    await until(() => replies.at(-1)?.last === true, { what: `the last reply to ${topic}` });
    return replies;
  };
  return {
    actions,
    stateDir,
    ask,
    async act(action, model, service_id = 'llm-0') {
      return activityIn((await ask(`models.${action}`, { service_id, model })).at(-1));
    },
    async begin(action, model, service_id = 'llm-0') {
      const replies = say(`models.${action}`, { service_id, model });
      await until(() => replies.length > 0);
      return activityIn(replies[0]);
    },
    async list() {
      return modelsBody.parse((await ask('models.list')).at(-1)?.body);
    },
    async cancel(action) {
      return activityIn((await ask('models.cancel', { action })).at(-1));
    },
  };
}

function activityIn(reply: Reply | undefined): ModelActivity {
  if (reply?.refusal !== undefined) throw new Error(reply.refusal.code);
  return modelActivityBody.parse(reply?.body).activity;
}
