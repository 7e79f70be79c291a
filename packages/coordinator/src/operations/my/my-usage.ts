import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { listModels } from '../models.js';
import { listRecentUsage } from '../recent-usage.js';
import { showSeries, showStats } from '../stats.js';
import type { UsageGroup } from '../../store/port.js';
import { read } from './command.js';
import type { Mine } from './command.js';

const whose = { user: true, owner: true } as const;
/** What others asked of one's providers, and oneself; false: what one asked of anybody's. */
const given = z.boolean();

export const MY_USAGE = {
  'stats.show': read(showStats.args.omit(whose).extend({ given }), (mine, args) =>
    showStats.run(mine.context, bound(mine, args)),
  ),
  'usage.series': read(showSeries.args.omit(whose).extend({ given }), (mine, args) =>
    showSeries.run(mine.context, bound(mine, args)),
  ),
  'usage.recent': read(listRecentUsage.args.omit({ user: true }), ({ context, member }, args) =>
    listRecentUsage.run(context, { ...args, user: member.id }),
  ),
  /** Those that they may use, a row a provider. */
  'model.list': read(z.strictObject({}), ({ context, member }) =>
    listModels.run(context, { user: member.id }),
  ),
};

interface Question {
  readonly by: UsageGroup;
  readonly given: boolean;
}

function bound<Args extends Question>({ member }: Mine, { given: isGiven, ...args }: Args) {
  if (isGiven && args.by === 'key') {
    throw new CommandError(EXIT.usage, "by: the keys of others are not told. Ask for 'member'.");
  }
  return isGiven
    ? { ...args, user: null, owner: member.id }
    : { ...args, user: member.id, owner: null };
}
