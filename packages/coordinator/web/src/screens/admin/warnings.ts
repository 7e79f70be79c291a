/** What is wrong with the gateway itself, and where one sees more of it. */
import type { AdminResult } from '../../api/commands.js';
import type { AttentionItem } from '../../ui/dialog/attention.js';

type System = AdminResult<'system.show'>;
type Queue = AdminResult<'queue.summary'>;

const SYSTEM = '/admin/system';

export function warningsOf(system: System, queue: Queue): readonly AttentionItem[] {
  const unserved = queue.by_model.filter((one) => one.queued > 0 && one.providers_online === 0);
  return [
    ...when(!system.async_enabled, 'Jobs and batches are switched off.', SYSTEM),
    ...when(
      queue.worker_stalled,
      'Jobs wait, and the dispatcher has not moved for a minute. Look at the log, then restart.',
      '/queue',
    ),
    ...when(system.queue_paused, 'The queue is paused: no waiting job starts.', SYSTEM),
    ...when(
      system.asset_bytes >= system.asset_bytes_limit * 0.9,
      'The space for generated files is nearly full. Raise GATEWAY_ASSETS_MAX_GB, or prune.',
      SYSTEM,
    ),
    ...unserved.flatMap(({ model }) =>
      when(true, `Jobs for ${model} wait, and nobody who serves it is online.`, '/admin/jobs'),
    ),
  ];
}

function when(isSo: boolean, text: string, href: string): readonly AttentionItem[] {
  return isSo ? [{ text, href }] : [];
}
