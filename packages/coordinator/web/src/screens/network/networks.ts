/** Networks and their members, for the parts of the screen. */
import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';

export type Network = MyResult<'network.list'>[number];
export type NetworkDetail = MyResult<'network.show'>;
export type Member = NetworkDetail['members'][number];
export type Invited = NetworkDetail['invited'][number];

const EVERY_MS = 2_000;

export function useNetwork(id: string) {
  return useMy('network.show', { network: id }, { everyMs: EVERY_MS });
}

export function useBlocks() {
  return useMy('provider.blocks', {}, { everyMs: EVERY_MS });
}

export function useInvites() {
  return useMy('user.invites', {}, { everyMs: EVERY_MS });
}

/** Invitations that wait for the member's answer. */
export function useInvitations() {
  return useMy('network.invitations', {}, { everyMs: EVERY_MS });
}

export function useReceived() {
  return useMy('share.received', {}, { everyMs: EVERY_MS, topics: ['providers'] });
}
