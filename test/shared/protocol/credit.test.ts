import { ReceiveWindow, SendWindow } from '@inference-gateway/shared/protocol/credit';
import { describe, expect, it } from 'vitest';

describe('a receive window', () => {
  it('takes as many bytes as it granted, and not one more', () => {
    const window = new ReceiveWindow(100);
    expect(window.receive(60)).toBe(true);
    expect(window.receive(40)).toBe(true);
    expect(window.receive(1)).toBe(false);
  });

  it('grants nothing for bytes that were received and not consumed', () => {
    const window = new ReceiveWindow(100);
    window.receive(100);
    expect(window.consume(0)).toBe(0);
  });

  it('grants what was consumed once that is half a window', () => {
    const window = new ReceiveWindow(100);
    window.receive(100);
    expect(window.consume(49)).toBe(0);
    expect(window.consume(1)).toBe(50);
    expect(window.consume(49)).toBe(0);
    expect(window.receive(50)).toBe(true);
    expect(window.receive(1)).toBe(false);
  });
});

describe('a send window', () => {
  it('counts down what is spent and up what is granted', () => {
    const window = new SendWindow(10);
    window.spend(10);
    expect(window.creditBytes).toBe(0);
    window.grant(4);
    expect(window.creditBytes).toBe(4);
  });

  it('never holds more than 2 GiB, whatever a peer grants', () => {
    const window = new SendWindow(10);
    for (let i = 0; i < 4; i++) window.grant(0xffffffff);
    expect(window.creditBytes).toBe(0x7fffffff);
  });
});

it('both sides agree over any split of a long transfer', () => {
  const receiver = new ReceiveWindow(1_000);
  const sender = new SendWindow(1_000);
  let transferred = 0;
  for (let i = 0; transferred < 100_000; i++) {
    const bytes = Math.min(1 + ((i * 37) % 400), sender.creditBytes);
    sender.spend(bytes);
    expect(receiver.receive(bytes)).toBe(true);
    const credit = receiver.consume(bytes);
    if (credit > 0) sender.grant(credit);
    transferred += bytes;
    expect(sender.creditBytes).toBeGreaterThan(0);
  }
});
