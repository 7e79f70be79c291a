import type { Database } from 'better-sqlite3';
import type { DispatchStore } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { claimOperations } from './claims.js';
import { finishOperations } from './finishes.js';
import { laneReader } from './lanes.js';
import { lostClaimOperations } from './lost-claims.js';
import type { Operations } from '../engine/operations.js';
import { queueOperations } from './queue.js';

/** Jobs on their way to providers and back. Each part has a file of its own. */
export function dispatchOperations(
  database: Database,
  trail: AuditTrail,
): Pick<Operations, keyof DispatchStore> {
  return {
    laneHeads: laneReader(database),
    ...claimOperations(database),
    ...finishOperations(database),
    ...lostClaimOperations(database),
    ...queueOperations(database, trail),
  };
}
