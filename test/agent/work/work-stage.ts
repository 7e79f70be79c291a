/** One piece of work as a coordinator opens it, and what the agent says of it. */
import { IncomingWork } from '@inference-gateway/agent/work/incoming-work';
import { LinkStream } from '@inference-gateway/shared/protocol/link';
import { decodeFrame } from '@inference-gateway/shared/protocol/frames';
import type { Message } from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import { LinkWriter } from '@inference-gateway/shared/protocol/writer';

export type Parts = NonNullable<Message<'OPEN'>['parts']>;

/** The body has two bytes unless `open` says otherwise. */
export function openWork(
  parts: Parts,
  changes: Partial<Message<'OPEN'>> = {},
  readsMessageFrames = false,
) {
  const sent: string[] = [];
  let closed = false;
  const pieces: Uint8Array[] = [];
  const control = (frame: string | Uint8Array): void => {
    const decoded = typeof frame === 'string' ? null : decodeFrame(frame);
    if (typeof frame === 'string') sent.push(frame);
    else sent.push(decoded?.kind === 'message' ? decoded.text : 'WINDOW');
    if (decoded?.kind === 'message') pieces.push(decoded.bytes);
    if (decoded?.kind === 'data') pieces.push(decoded.bytes);
  };
  const wire = { send: control, bufferedBytes: () => 0, cork: () => {}, uncork: () => {} };
  const send = new LinkWriter(wire, LINK.agentHighWaterBytes).open(1, LINK.windowBytes);
  const open: Message<'OPEN'> = {
    t: 'OPEN',
    stream: 1,
    kind: 'sync',
    endpoint: 'transcriptions',
    service_id: 'stt-0',
    model: 'm',
    caller: { name: 'Anna', own: true },
    body: { bytes: 2 },
    parts,
    deadline_ms: 0,
    attempt: 1,
    request_id: 'req_1',
    ...changes,
  };
  const work = new IncomingWork(
    open,
    new LinkStream(send, {
      control,
      readsMessageFrames: () => readsMessageFrames,
      closed: () => (closed = true),
    }),
  );
  const answered = (): string => Buffer.concat(pieces).toString();
  return { work, sent, answered, isClosed: () => closed };
}
