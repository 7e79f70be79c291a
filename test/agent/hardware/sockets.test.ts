import { SocketHolders } from '@inference-gateway/agent/hardware/sockets';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { writeFiles } from './fake-amd.js';

const LINK = 'socket:[77]';
const MINE = process.getuid?.() ?? 0;
const HOLDER = { pid: 60, parent: 1, name: 'ollama' };
const TABLE = new Map([[60, HOLDER]]);

/** Looks for a socket of this user, whose holder shows itself after the first look. */
async function lookTwice(uid: number) {
  const root = await temporaryFolder();
  const holders = new SocketHolders(`${root}/proc`);
  const sockets = [{ port: 11_434, isOnLoopback: true, uid, link: LINK }];
  const first = await holders.of(sockets, TABLE);
  await writeFiles(root, { 'proc/60/fd/3': `->${LINK}` });
  return { first, second: await holders.of(sockets, TABLE) };
}

test('the holder of a socket is looked for until it is seen', async () => {
  const { first, second } = await lookTwice(MINE);
  expect([[...first], [...second]]).toEqual([[], [[LINK, 60]]]);
});

test('that of another user, who hides it, is not looked for again and again', async () => {
  const { first, second } = await lookTwice(MINE + 1);
  expect([[...first], [...second]]).toEqual([[], []]);
});

test('a socket of which nothing is known is looked for, whatever is known of others', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'proc/60/fd/3': `->${LINK}` });
  const holders = new SocketHolders(`${root}/proc`);
  const hidden = { port: 1, isOnLoopback: true, uid: MINE + 1, link: 'socket:[1]' };
  await holders.of([hidden], TABLE);
  const seen = { port: 11_434, isOnLoopback: true, uid: MINE, link: LINK };
  const both = await holders.of([hidden, seen], TABLE);
  expect([...both]).toEqual([[LINK, 60]]);
});
