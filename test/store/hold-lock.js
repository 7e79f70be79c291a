// Takes the lock of the folder that it is given and keeps it until it is killed, whatever the
// garbage collector takes meanwhile.
import { lockFolder } from '@inference-gateway/coordinator/store/sqlite/engine/lock';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

lockFolder(process.argv[2] ?? '');
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
for (let i = 0; i < 3; i++) await new Promise((done) => setImmediate(() => done(collect())));
console.log('locked');
setInterval(() => {}, 60_000);
