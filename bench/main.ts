/**
 * `npm run bench -- NAME [--quick] [--cpu-prof DIR] [--json FILE]`; further options by bench in
 * `options.ts` and `docs/performance.md`.
 */
import { writeFileSync } from 'node:fs';
import { bodies, report as bodiesReport } from './bodies/bodies.js';
import { cluster } from './cluster/cluster.js';
import { report as clusterReport } from './cluster/report.js';
import { cost, report as costReport } from './cost/cost.js';
import { dashboard } from './dashboard/dashboard.js';
import { report as dashboardReport } from './dashboard/report.js';
import { measureFleet } from './fleet/measure-fleet.js';
import { report as fleetReport } from './fleet/report.js';
import { jobs } from './jobs/jobs.js';
import { report as jobsReport } from './jobs/report.js';
import { media } from './media/media.js';
import { report as mediaReport } from './media/report.js';
import { readOptions } from './options.js';
import { queue } from './queue/queue.js';
import { report as queueReport } from './queue/report.js';
import { relay } from './relay/relay.js';
import { report as relayReport } from './relay/report.js';
import { report as scheduleReport } from './schedule/report.js';
import { report as searchReport } from './search/report.js';
import { search } from './search/search.js';
import { schedule } from './schedule/schedule.js';
import { report as translationReport, translation } from './relay/translation.js';
import { report as soundsReport, sounds } from './sounds.js';
import { report as usageReport } from './usage/report.js';
import { usage } from './usage/usage.js';

const BENCHES = {
  relay: { run: relay, report: relayReport },
  cost: { run: cost, report: costReport },
  translation: { run: translation, report: translationReport },
  bodies: { run: bodies, report: bodiesReport },
  media: { run: media, report: mediaReport },
  jobs: { run: jobs, report: jobsReport },
  queue: { run: queue, report: queueReport },
  schedule: { run: schedule, report: scheduleReport },
  fleet: { run: measureFleet, report: fleetReport },
  dashboard: { run: dashboard, report: dashboardReport },
  cluster: { run: cluster, report: clusterReport },
  sounds: { run: sounds, report: soundsReport },
  usage: { run: usage, report: usageReport },
  search: { run: search, report: searchReport },
};

const { name, options } = readOptions(process.argv.slice(2));
if (name === undefined || !(name in BENCHES)) {
  const known = Object.keys(BENCHES).join(', ');
  options.say(`"${name ?? ''}" is no bench; there are: ${known}`);
  process.exit(2);
}
const bench = BENCHES[name as keyof typeof BENCHES];
const samples = await bench.run(options);
process.stdout.write(`${bench.report(samples)}\n`);
if (options.json !== null) writeFileSync(options.json, JSON.stringify(samples, null, 2));
