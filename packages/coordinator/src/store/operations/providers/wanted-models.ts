/** Models that members asked for and nobody served. */
import { MAX_WANTED_A_DAY, WANTED_BY } from '../../../core/access/wanted-model.js';
import { MAX_WANTED_ROWS, MAX_WANTED_SHOWN, WANTED_DAYS } from '../../port.js';
import type { AskedOn, WantedModel } from '../../port.js';
import type { Operations } from '../operations.js';
import { lock, statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';

type WantedOperations = Pick<Operations, 'writeWanted' | 'wantedModels' | 'deleteOldWanted'>;

const DAY_MS = 86_400_000;

const countAll = valueOf<object, number>('select count(*) from wanted_models');
const ofDay = valueOf<{ memberId: string; day: number }, string>(
  'select model from wanted_models where member_id = @memberId and asked_on = @day',
);
/** Nothing if the member is deleted meanwhile. */
const write = statement<AskedOn>(
  `insert into wanted_models (member_id, model, asked_on)
   select id, @model, @day from members where id = @memberId
   on conflict (member_id, model) do update set asked_on = excluded.asked_on`,
);

/** In lower case: only the case may differ from what a provider calls its model. */
const KNOWN = `select replace(lower(model), ':latest', '') from served_models where left_at is null
  union select lower(name) from aliases`;
const list = statement<{ memberId: string; since: number }, WantedModel>(
  `select model, max(members) as members from (
     select w.model, theirs.network_id, count(*) as members
     from network_members mine
     join network_members theirs on theirs.network_id = mine.network_id
     join wanted_models w on w.member_id = theirs.member_id
     where mine.member_id = @memberId and w.asked_on >= @since
     group by w.model, theirs.network_id
     having count(*) >= ${WANTED_BY}) as counted
   where lower(model) not in (${KNOWN})
   group by model order by 2 desc, model limit ${MAX_WANTED_SHOWN}`,
);
const OLD = 'select member_id, model from wanted_models where asked_on < @before limit @limit';
const deleteOld = statement<{ before: number; limit: number }>(
  `delete from wanted_models where (member_id, model) in (${OLD})`,
);

export const wantedOperations: WantedOperations = {
  *writeWanted(asked) {
    // The sums hold for all coordinators of the database.
    yield* lock('wanted models');
    let room = MAX_WANTED_ROWS - ((yield* countAll.get({})) ?? 0);
    for (const group of byMemberAndDay(asked)) room -= yield* writeOfDay(group, room);
  },

  *wantedModels(memberId, now) {
    return yield* list.all({ memberId, since: firstDay(now) });
  },

  *deleteOldWanted(now, limit) {
    return yield* deleteOld.run({ before: firstDay(now), limit });
  },
};

function byMemberAndDay(asked: readonly AskedOn[]): Iterable<readonly AskedOn[]> {
  const groups = new Map<string, AskedOn[]>();
  for (const one of asked) {
    const key = `${one.memberId} ${one.day}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups.values();
}

/** Of one member and day. Returns how many rows it wrote. */
function* writeOfDay(asked: readonly AskedOn[], room: number): Operation<number> {
  const [first] = asked;
  if (first === undefined) return 0;
  const known = new Set(yield* ofDay.all(first));
  const left = Math.max(0, Math.min(MAX_WANTED_A_DAY - known.size, room));
  const rows = asked.filter(({ model }) => !known.has(model)).slice(0, left);
  yield* write.each(rows);
  return rows.length;
}

function firstDay(now: number): number {
  return now - (now % DAY_MS) - (WANTED_DAYS - 1) * DAY_MS;
}
