// Takes the lock of the folder that it is given and keeps it until it is killed.
import { lockFolder } from '@inference-gateway/coordinator/store/sqlite/engine/lock';

lockFolder(process.argv[2] ?? '');
console.log('locked');
setInterval(() => {}, 60_000);
