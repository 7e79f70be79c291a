import { describe, expect, it } from 'vitest';
import { formOf } from '../../../packages/coordinator/web/src/screens/playground/call.js';
import {
  imageBody,
  pathOf,
} from '../../../packages/coordinator/web/src/screens/playground/image/image-state.js';
import {
  isPainted,
  rectangleIn,
  undone,
  withPoint,
  withStep,
} from '../../../packages/coordinator/web/src/screens/playground/image/mask.js';
import { tryable } from '../../../packages/coordinator/web/src/screens/playground/models.js';
import { shortened } from '../../../packages/coordinator/web/src/screens/playground/shortened.js';
import {
  clock,
  pieceAt,
  readTranscript,
} from '../../../packages/coordinator/web/src/screens/playground/transcribe/transcript.js';

const dot = { kind: 'stroke', isErasing: false, size: 4, points: [{ x: 1, y: 1 }] } as const;
const SIZE = { width: 100, height: 50 };

describe('a mask', () => {
  it('grows by strokes and points, and is undone by strokes', () => {
    const painted = withPoint(withStep(withStep([], dot), dot), { x: 2, y: 2 });
    expect(painted.at(-1)).toMatchObject({
      points: [
        { x: 1, y: 1 },
        { x: 2, y: 2 },
      ],
    });
    expect(undone(painted)).toEqual([dot]);
    expect(undone([])).toEqual([]);
  });

  it('is empty where there was erasing alone', () => {
    expect(isPainted([{ ...dot, isErasing: true }])).toBe(false);
    expect(isPainted([dot])).toBe(true);
  });

  it('takes rectangles as far as they lie in the picture', () => {
    const inside = rectangleIn(SIZE, { x: -10, y: 10.4, width: 30, height: 1_000 });
    expect(inside).toEqual({ kind: 'rectangle', x: 0, y: 10, width: 20, height: 40 });
    expect(rectangleIn(SIZE, { x: 100, y: 0, width: 10, height: 10 })).toBe(null);
    expect(rectangleIn(SIZE, { x: Number.NaN, y: 0, width: 10, height: 10 })).toBe(null);
  });

  it('does not grow for ever', () => {
    let mask = withStep([], dot);
    for (let i = 0; i < 6_000; i++) mask = withPoint(mask, { x: i, y: 0 });
    expect(mask[0]?.kind === 'stroke' && mask[0].points.length).toBe(5_000);
    for (let i = 0; i < 600; i++) mask = withStep(mask, dot);
    expect(mask).toHaveLength(500);
  });
});

describe('the request of a picture', () => {
  it('leaves out what is as the model likes', () => {
    const form = { model: 'sd', prompt: 'a cat', size: '', count: '1' };
    expect(imageBody(form)).toEqual({ model: 'sd', prompt: 'a cat' });
    expect(imageBody({ ...form, size: '64x64', count: '3' })).toMatchObject({
      n: 3,
      size: '64x64',
    });
    expect(imageBody({ ...form, count: 'many' })).not.toHaveProperty('n');
  });

  it('is a form in which lists are repeated', () => {
    const files = [{ field: 'file', name: 'a.wav', content: new Blob(['x']) }];
    const form = formOf({ model: 'w', timestamp_granularities: ['word', 'segment'] }, files);
    expect(form.getAll('timestamp_granularities[]')).toEqual(['word', 'segment']);
    expect(form.get('model')).toBe('w');
    expect((form.get('file') as File).name).toBe('a.wav');
  });

  it('names its pictures on this origin, whatever the public address is', () => {
    const url = 'https://gpu.example.org/api/inference/assets/abc/';
    expect(pathOf(url)).toBe('/api/inference/assets/abc/');
  });

  it('is shown with its pictures cut short, and with nothing else cut', () => {
    const url = `data:image/png;base64,${'A'.repeat(200)}`;
    const long = 'b'.repeat(200);
    const { body, isShortened } = shortened({ long, parts: [{ url }] });
    expect(isShortened).toBe(true);
    expect(body['long']).toBe(long);
    expect(JSON.stringify(body['parts'])).toMatch(/base64,A+…/);
    expect(shortened({ long }).isShortened).toBe(false);
  });
});

describe('a transcript', () => {
  const segments = [{ text: ' Hello there. ', start: 0, end: 2 }];

  it('is cut into words, else into sentences, else into nothing', () => {
    const words = [
      { word: ' Hello', start: 0, end: 1 },
      { word: ' ', start: 1, end: 1 },
    ];
    const pieces = readTranscript({ text: ' Hello there. ', words, segments }).pieces;
    expect(pieces).toEqual([{ text: 'Hello', start: 0, end: 1 }]);
    expect(readTranscript({ text: 'x', segments }).pieces[0]?.text).toBe('Hello there.');
    expect(readTranscript({ text: ' x ' })).toMatchObject({
      text: 'x',
      pieces: [],
      language: null,
    });
  });

  it('knows which piece is being heard', () => {
    const pieces = [
      { text: 'a', start: 0, end: 1 },
      { text: 'b', start: 2, end: 3 },
    ];
    expect([0, 0.99, 1.5, 2, 3].map((at) => pieceAt(pieces, at))).toEqual([0, 0, null, 1, null]);
    expect([0, 65.9, 3_600].map(clock)).toEqual(['0:00', '1:05', '60:00']);
  });
});

describe('the models to try', () => {
  const model = {
    id: 'tiny',
    object: 'model',
    created: 1,
    owned_by: 'Anna',
    service_type: 'llm',
    input_modalities: ['text'],
    output_modalities: ['text'],
    supported_features: [],
    context_length: null,
  } as const;

  it('are those of the kind, with the slots of that kind', () => {
    const slots = [
      { model: 'tiny', service_type: 'tts', slots: 9, free_slots: 9 },
      { model: 'tiny', service_type: 'llm', slots: 4, free_slots: 3 },
    ] as const;
    const found = tryable([model, { ...model, service_type: 'tts' }], slots, 'llm');
    expect(found).toMatchObject([{ id: 'tiny', slots: 4, freeSlots: 3 }]);
    expect(tryable([model], [], 'llm')).toMatchObject([{ slots: 0, freeSlots: 0 }]);
  });
});
