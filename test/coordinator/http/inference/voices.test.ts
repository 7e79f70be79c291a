import { chooseVoice } from '@inference-gateway/coordinator/http/inference/fit-call';
import { expect, test } from 'vitest';

const OFFERED = ['af_sky', 'af_bella'];

test.each([
  ['no voice', null, OFFERED, { kind: 'asked', needed: [] }],
  ['a voice that is offered', 'af_bella', OFFERED, { kind: 'asked', needed: ['af_bella'] }],
  ['any voice, where none are told', 'zeus', [], { kind: 'asked', needed: [] }],
  ['a blend', 'af_bella(2)+af_sky(1)', OFFERED, { kind: 'asked', needed: ['af_bella', 'af_sky'] }],
  ['OpenAI’s own', 'alloy', OFFERED, { kind: 'fallback', voice: 'af_sky' }],
  ['OpenAI’s own, offered', 'alloy', ['alloy'], { kind: 'asked', needed: ['alloy'] }],
  ['an unknown one', 'zeus', OFFERED, { kind: 'unknown' }],
  ['a blend with an unknown one', 'af_bella+zeus', OFFERED, { kind: 'unknown' }],
])('%s', (...row) => {
  const [, asked, offered, choice] = row;
  expect(chooseVoice(asked, offered)).toEqual(choice);
});
