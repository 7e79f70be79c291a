/** Lists, reads and claims through the store's port, on both tables in turn. */
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { JobQuery, NewClaim, Store } from '@inference-gateway/coordinator/store/port';
import { randomId } from '@inference-gateway/shared/ids';
import { median } from '../../statistics.js';
import { MEMBERS } from './seed.js';
import type { Seeded } from './seed.js';
import { idAt } from './table-round.js';
import type { TableRound, Tables } from './table-round.js';

export const FIRST_PAGE = {
  statuses: null,
  endpoints: null,
  model: null,
  after: null,
  limit: 50,
  order: 'desc',
} as const;
/** Of each member's lane: less than the small table has queued. */
const PER_LANE = 5;
const LEASE_MS = 60_000;

interface Place {
  readonly store: Store;
  readonly table: Seeded;
  readonly round: TableRound;
}

type Measure = (place: Place) => Promise<number[]>;

/** Milliseconds each, by metric. */
const MEASURES: Readonly<Record<string, Measure>> = {
  'store.list': (place) => times(place, () => list(place, {})),
  'store.listDeep': (place) => times(place, (i) => list(place, { after: idAt(place.table, i) })),
  'store.listStatus': (place) => times(place, () => list(place, { statuses: ['PROCESSED'] })),
  'store.get': (place) => times(place, (i) => find(place, i)),
  'store.claim': claims,
};

export async function measureStores(tables: Tables, round: TableRound): Promise<void> {
  const places = new Map<string, Place>();
  try {
    for (const [name, table] of tables) {
      places.set(name, { table, round, store: await openStore(table.folder, { inThread: true }) });
    }
    for (let i = 0; i < round.rounds; i++) {
      round.say(`tables, through the store: round ${i + 1} of ${round.rounds}`);
      await oneRound(places, round);
    }
  } finally {
    for (const { store } of places.values()) await store.close();
  }
}

async function oneRound(places: ReadonlyMap<string, Place>, { samples }: TableRound) {
  for (const [metric, measure] of Object.entries(MEASURES)) {
    for (const [name, place] of places) samples.add(name, metric, median(await measure(place)));
  }
}

async function times(place: Place, act: (index: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < place.round.reads; i++) took.push(await msOf(() => act(i)));
  return took;
}

async function list({ store, table }: Place, query: Partial<JobQuery>): Promise<void> {
  const { memberId } = table;
  const page = { ...FIRST_PAGE, memberId, ...query };
  const jobs = await store.listJobs(page);
  if (jobs.length === 0) throw new Error(`the list of ${JSON.stringify(page)} is empty`);
}

async function find({ store, table }: Place, index: number): Promise<void> {
  const { memberId } = table;
  const found = await store.findJob(idAt(table, index), memberId);
  if (found?.result === null || found === null) throw new Error('a job of the table is not there');
}

/** That holds every claim. */
const LINK = 'bench';

/** As the dispatcher claims; given back afterwards, the next finds the same queue. */
async function claims({ store, round }: Place): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < round.claims; i++) {
    let claimIds: readonly string[] = [];
    took.push(await msOf(async () => (claimIds = await claim(store))));
    if (claimIds.length !== PER_LANE * MEMBERS) throw new Error(`${claimIds.length} were claimed`);
    const release = { linkId: LINK, counts: false, error: GIVEN_BACK, random: 0 };
    const now = Date.now();
    await Promise.all(claimIds.map((claimId) => store.releaseJob({ claimId, ...release }, now)));
  }
  return took;
}

const GIVEN_BACK = {
  message: 'Given back.',
  type: 'upstream_error',
  code: 'provider_disconnected',
  param: null,
} as const;

async function claim(store: Store): Promise<readonly string[]> {
  const heads = await store.laneHeads(PER_LANE);
  const now = Date.now();
  const leaseUntil = now + LEASE_MS;
  const place = { providerId: 'bench-pc', linkId: LINK, serviceId: 'llm' };
  const claims = heads.flatMap(({ jobs }) =>
    jobs.map(({ id: jobId }): NewClaim => ({
      jobId,
      claimId: randomId(),
      leaseUntil,
      isOwn: false,
      ...place,
    })),
  );
  const claimed = await store.claimJobs(claims, now);
  return claimed.flatMap((one) => (one === null ? [] : [one[0].claimId]));
}

async function msOf(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}
