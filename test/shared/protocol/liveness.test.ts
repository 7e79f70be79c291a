import { Liveness, SilenceTimer } from '@inference-gateway/shared/protocol/liveness';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a silence timer', () => {
  it('calls back once, after the limit', () => {
    const silent = vi.fn();
    const timer = new SilenceTimer(1_000, silent);
    expect(timer.running).toBe(true);
    vi.advanceTimersByTime(999);
    expect(silent).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10_000);
    expect(silent).toHaveBeenCalledTimes(1);
  });

  it('counts from the last touch', () => {
    const silent = vi.fn();
    const timer = new SilenceTimer(1_000, silent);
    for (let i = 0; i < 5; i++) {
      vi.advanceTimersByTime(900);
      timer.touch();
    }
    vi.advanceTimersByTime(999);
    expect(silent).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2);
    expect(silent).toHaveBeenCalledTimes(1);
  });

  it('says nothing after it was stopped', () => {
    const silent = vi.fn();
    const timer = new SilenceTimer(1_000, silent);
    timer.stop();
    vi.advanceTimersByTime(5_000);
    expect(silent).not.toHaveBeenCalled();
  });
});

describe('liveness', () => {
  it('pings after 15 s without having sent, and again', () => {
    const ping = vi.fn();
    const liveness = new Liveness({ pingMs: 15_000, deadMs: 40_000, ping, dead: () => {} });
    vi.advanceTimersByTime(10_000);
    liveness.sent();
    vi.advanceTimersByTime(14_999);
    expect(ping).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(ping).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(15_000);
    expect(ping).toHaveBeenCalledTimes(2);
  });

  it('gives the link up after 40 s in which nothing was heard, sent or not', () => {
    const dead = vi.fn();
    const liveness = new Liveness({ pingMs: 15_000, deadMs: 40_000, ping: () => {}, dead });
    vi.advanceTimersByTime(39_000);
    liveness.sent();
    liveness.heard();
    vi.advanceTimersByTime(39_999);
    expect(dead).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(dead).toHaveBeenCalledTimes(1);
  });
});
