// Creates members as fast as the store accepts them, and prints the id of each one whose creation
// the store has confirmed.
import { openStore } from '@inference-gateway/coordinator/store/open';

const WRITERS = 20;
const store = await openStore(process.argv[2] ?? '', { inThread: true });
let next = 0;

async function write() {
  for (;;) {
    const name = `member-${next++}`;
    const member = { email: `${name}@example.org`, name, role: 'member', passwordHash: null };
    const created = await store.createMember(member, Date.now());
    if (created.kind === 'created') console.log(created.value.id);
  }
}

await Promise.all(Array.from({ length: WRITERS }, write));
