import type { Logger } from '@inference-gateway/shared/program/logger';
import { readPackageVersion } from '@inference-gateway/shared/program/versions';
import type { Config } from '../../config/config.js';
import type { Store } from '../../store/port.js';
import { describeSubject } from './describe-subject.js';
import type { SubjectPresentation } from './describe-subject.js';
import { WebhookSender } from './webhook-sender.js';

export interface WebhookParts {
  readonly store: Store;
  readonly logger: Logger;
  readonly config: Pick<Config, 'webhookPrivate' | 'publicUrl'>;
  readonly present: SubjectPresentation;
}

/** The sender as a coordinator has it; `wake` begins. */
export function openWebhooks({ store, logger, config, present }: WebhookParts): WebhookSender {
  const version = readPackageVersion(new URL('../../../package.json', import.meta.url));
  return new WebhookSender({
    store,
    logger,
    describe: describeSubject(store, present),
    userAgent: `inference-gateway/${version}`,
    allowPrivate: config.webhookPrivate,
    publicUrl: config.publicUrl,
  });
}
