import {
  decodeAgentMessage,
  decodeCoordinatorMessage,
} from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import { describe, expect, it } from 'vitest';

const agent = (value: unknown) => decodeAgentMessage(JSON.stringify(value));

describe('text frames', () => {
  it('are read by their tag', () => {
    expect(agent({ t: 'REJECT', stream: 3, reason: 'busy' })).toEqual({
      kind: 'message',
      message: { t: 'REJECT', stream: 3, reason: 'busy' },
    });
  });

  it('may carry fields that this version does not know', () => {
    const decoded = agent({ t: 'ACCEPT', stream: 3, mood: 'good' });
    expect(decoded).toEqual({ kind: 'message', message: { t: 'ACCEPT', stream: 3 } });
  });

  it('with an unknown tag are told apart from broken ones', () => {
    expect(agent({ t: 'TELEPORT', stream: 3 })).toEqual({ kind: 'unknown', tag: 'TELEPORT' });
  });

  it.each([
    ['no JSON', '{"t":'],
    ['no object', '"ACCEPT"'],
    ['null', 'null'],
    ['no tag', '{"stream":1}'],
    ['a tag that is no text', '{"t":1}'],
    ['a missing field', '{"t":"ACCEPT"}'],
    ['stream 0', '{"t":"ACCEPT","stream":0}'],
    ['a fractional stream', '{"t":"ACCEPT","stream":1.5}'],
    ['an unknown reason', '{"t":"REJECT","stream":1,"reason":"bored"}'],
    ['negative usage', '{"t":"END","stream":1,"ok":true,"usage":{"prompt_tokens":-1}}'],
  ])('are refused: %s', (_, text) => {
    expect(decodeAgentMessage(text).kind).toBe('malformed');
  });

  it('hold at most 64 KiB, model lists excepted', () => {
    const padding = 'x'.repeat(LINK.maxControlBytes);
    expect(agent({ t: 'ACCEPT', stream: 1, padding }).kind).toBe('malformed');
    expect(agent({ t: 'SERVICES', rev: 1, services: [], padding }).kind).toBe('message');
  });

  it.each([0, 0.000_001, 1_000_000_000])('do not make an agent beat every %d s', (seconds) => {
    const times = { ping_s: 15, dead_s: 40, lease_s: 60, server_time: 0 };
    const names = { session_id: 's', provider_id: 'p', name: 'den-pc', resume: [] };
    const limits = { window_bytes: 1, max_streams: 1 };
    const welcome = { t: 'WELCOME', ...names, ...times, limits };
    const decoded = (heartbeat: number) =>
      decodeCoordinatorMessage(JSON.stringify({ ...welcome, heartbeat_s: heartbeat })).kind;
    expect(decoded(15)).toBe('message');
    expect(decoded(seconds)).toBe('malformed');
  });

  it('are read by direction: a coordinator never says HELLO, an agent never says OPEN', () => {
    expect(decodeCoordinatorMessage('{"t":"HELLO"}')).toEqual({ kind: 'unknown', tag: 'HELLO' });
    expect(decodeAgentMessage('{"t":"OPEN"}')).toEqual({ kind: 'unknown', tag: 'OPEN' });
  });
});
