// Runs the agent's program with a spool that holds argv[2] bytes in place of a gibibyte.
import { SpoolFull, SpoolRoom } from '@inference-gateway/agent/work/spool-room';

const [maxBytes = ''] = process.argv.splice(2, 1);
let usedBytes = 0;
SpoolRoom.prototype.take = (bytes) => {
  if (usedBytes + bytes > Number(maxBytes)) throw new SpoolFull();
  usedBytes += bytes;
};
SpoolRoom.prototype.giveBack = (bytes) => {
  usedBytes -= bytes;
};
await import('@inference-gateway/agent/main');
