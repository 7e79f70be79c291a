import type { Choice } from '@inference-gateway/coordinator/core/routing/match';
import type { CallReport } from '@inference-gateway/coordinator/core/routing/links';
import { TrackRecords } from '@inference-gateway/coordinator/links/track-records';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import { beforeEach, describe, expect, it } from 'vitest';
import { advertisedModel, makeChoice } from '../../support/candidate.js';

const OPEN_MS = 1_000;
const FAILED: CallReport = { kind: 'failed' };
const NOTHING: CallReport = { kind: 'nothing' };

let tracks: TrackRecords;

beforeEach(() => {
  tracks = new TrackRecords(OPEN_MS);
});

function serviceOf(...ids: string[]): AdvertisedService {
  const models = ids.map((id) => advertisedModel({ id, loaded: false }));
  return { service_id: 'llm-1', service_type: 'llm', slots: 4, models };
}

/** The candidate with its current track record. */
function at(now: number, id = 'm'): Choice {
  const service = serviceOf(id);
  const model = advertisedModel({ id, loaded: false });
  return makeChoice({ ...tracks.tracked(service, model, now), busySlots: 1 });
}

function report(told: CallReport, now: number, chosen = at(now)): void {
  tracks.report(chosen, told, now);
}

function breakIt(now: number, id = 'm'): void {
  for (let i = 0; i < 5; i++) report(FAILED, now, at(now, id));
}

function answered(now: number, firstByteMs = 500): void {
  const measured = { streamed: true, firstByteMs, totalMs: 2_500, tokens: 100, images: 0 };
  report({ kind: 'ok', measured }, now);
}

describe('the breaker', () => {
  it('is that of one model', () => {
    breakIt(0);
    expect(at(1)).toMatchObject({ health: 'open', nextProbeMs: OPEN_MS - 1, failureShare: 0.25 });
    expect(at(1, 'other')).toMatchObject({ health: 'closed', nextProbeMs: 0, failureShare: 0 });
  });

  it('lets one call try', () => {
    breakIt(0);
    const probe = at(OPEN_MS);
    expect(probe.health).toBe('probe');
    tracks.opened(probe, OPEN_MS);
    expect(at(OPEN_MS + 1)).toMatchObject({ health: 'open', nextProbeMs: 0 });
  });

  it('is closed by the answer to its probe, and not by that of an older call', () => {
    const older = at(0);
    breakIt(0);
    const probe = at(OPEN_MS);
    tracks.opened(probe, OPEN_MS);
    const ok: CallReport = { kind: 'ok', measured: null };
    report(ok, OPEN_MS + 1, older);
    expect(at(OPEN_MS + 1).health).toBe('open');
    report(ok, OPEN_MS + 2, probe);
    expect(at(OPEN_MS + 2).health).toBe('closed');
  });

  it('lets the next call try, where the probe told nothing', () => {
    breakIt(0);
    const probe = at(OPEN_MS);
    tracks.opened(probe, OPEN_MS);
    report(NOTHING, OPEN_MS + 1, probe);
    expect(at(OPEN_MS + 1).health).toBe('probe');
  });

  it('is not opened by calls that told nothing, or found it busy', () => {
    for (let i = 0; i < 20; i++) report(i % 2 === 0 ? NOTHING : { kind: 'busy' }, 0);
    expect(at(0)).toMatchObject({ health: 'closed', failureShare: 0 });
  });

  it('lets a call try at once with a new link', () => {
    breakIt(0);
    tracks.linked();
    expect(at(1).health).toBe('probe');
  });

  it('lets a call try at once when its model was gone and is back', () => {
    breakIt(0);
    breakIt(0, 'other');
    tracks.listed({ before: [serviceOf('m', 'other')], after: [serviceOf('other')] });
    tracks.listed({ before: [serviceOf('other')], after: [serviceOf('m', 'other')] });
    expect(at(1).health).toBe('probe');
    expect(at(1, 'other').health).toBe('open');
  });

  it('never opens where it is switched off', () => {
    tracks = new TrackRecords(0);
    breakIt(0);
    expect(at(1)).toMatchObject({ health: 'closed', failureShare: 0 });
  });
});

describe('what was measured', () => {
  it('is kept by model, with its age', () => {
    report({ kind: 'ok', measured: null }, 0);
    answered(100);
    expect(at(350)).toMatchObject({ paceAgeMs: 250, pace: { measuredAt: 100 } });
    expect(at(350, 'other')).toMatchObject({ paceAgeMs: 0, pace: { measuredAt: null } });
  });

  it('takes into account what else the card did, and whether the model was loaded', () => {
    // The agent reports that the model is not loaded, so the time counts as loading time.
    answered(0, 2_000);
    expect(at(1).pace).toMatchObject({ loadMs: 2_000, firstByteMs: null });
    // It has just answered, so it counts as loaded; one other call used half the card.
    answered(1_000, 500);
    expect(at(1_001).pace).toMatchObject({ loadMs: 2_000, firstByteMs: 250, tokensPerSecond: 100 });
  });
});

describe('a model that has just answered is loaded', () => {
  it('until its agent has had the time to say what is', () => {
    expect(at(0).model.loaded).toBe(false);
    answered(0);
    expect(at(14_999).model.loaded).toBe(true);
    expect(at(15_000).model.loaded).toBe(false);
  });

  it('until its agent says otherwise', () => {
    answered(0);
    tracks.listed({ before: [serviceOf('m')], after: [serviceOf('m')] });
    expect(at(1).model.loaded).toBe(false);
  });
});

it('an agent that sends other names each second is remembered by the last of them', () => {
  breakIt(0, 'first');
  for (let i = 0; i < 1_100; i++) report(FAILED, 0, at(0, `model ${i}`));
  expect(at(0, 'first').health).toBe('closed');
  expect(at(0, 'model 1099').failureShare).toBe(0.05);
});
