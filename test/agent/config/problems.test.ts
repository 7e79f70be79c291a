import { expect, test } from 'vitest';
import { BACKENDS } from '@inference-gateway/agent/backends/create-backend';
import { parseConfig } from '@inference-gateway/agent/config/schema';

const LLM = { type: 'llm', backend: 'openai', base_url: 'http://127.0.0.1:8080/v1' };

/** The content of the file, and the one problem that is reported. */
const PROBLEMS: readonly (readonly [unknown, string])[] = [
  [[], 'the whole file is []: it must be an object in { }'],
  [{ urll: 'x' }, 'urll is unknown: did you mean url?'],
  [
    { zzzzzz: 1 },
    'zzzzzz is unknown: known here are url, name, log_level, log_format, ffmpeg, ' +
      'hours, game_mode, status_port, manage_models, delete_models, models_max_gb, ' +
      'models_min_free_gb, unstoppable_pulls, services',
  ],
  [{ game_mode: { ignored: [] } }, 'game_mode.ignored is unknown: did you mean ignore?'],
  [
    { game_mode: { zzzzzz: 1 } },
    'game_mode.zzzzzz is unknown: known here are enabled, running, memory_mib, use_percent, ' +
      'ignore',
  ],
  [
    { game_mode: { running: 'stop' } },
    'game_mode.running is "stop": allowed values are yield, finish',
  ],
  [{ game_mode: { use_percent: 101 } }, 'game_mode.use_percent is 101: it must be at most 100'],
  [{ hours: '22-7' }, 'hours is "22-7": it must be two times of the day, such as 22:00-07:00'],
  [
    { services: [{ ...LLM, hours: '7:00-9:00' }] },
    'services[0].hours is "7:00-9:00": it must be two times of the day, such as 22:00-07:00',
  ],
  [{ url: 7 }, 'url is 7: it must be a text in quotes'],
  [
    { url: 'http://gateway.example.org' },
    'url is "http://gateway.example.org": it must be https://gateway.example.org: only to this ' +
      'machine may the link be unencrypted',
  ],
  [
    { url: 'ws://192.168.1.9:7070' },
    'url is "ws://192.168.1.9:7070": it must be https://192.168.1.9:7070: only to this ' +
      'machine may the link be unencrypted',
  ],
  [
    { url: 'ftp://x' },
    'url is "ftp://x": it must be the address of the coordinator, like https://gateway.example.org',
  ],
  [{ url: 'https://x/v1' }, 'url is "https://x/v1": it must be https://x alone, without /v1'],
  [{ name: '' }, 'name is "": it must not be empty'],
  [
    { log_level: 'verbose' },
    'log_level is "verbose": allowed values are trace, debug, info, warn, error, fatal, silent',
  ],
  [{ log_format: 'text' }, 'log_format is "text": allowed values are json, pretty'],
  [{ services: {} }, 'services is {}: it must be a list in [ ]'],
  [{ services: ['x'] }, 'services[0] is "x": it must be an object in { }'],
  [
    { services: [{ ...LLM, type: undefined }] },
    'services[0].type is missing: allowed values are llm, stt, image, tts, video, ' +
      'music, embedding, rerank',
  ],
  [
    { services: [{ ...LLM, type: 'imge' }] },
    'services[0].type is "imge": allowed values are llm, stt, image, tts, video, music, ' +
      'embedding, rerank. Did you mean image?',
  ],
  [
    { services: [{ ...LLM, backend: 'olama' }] },
    `services[0].backend is "olama": allowed values are ${BACKENDS.join(', ')}. ` +
      'Did you mean ollama?',
  ],
  [
    { services: [{ ...LLM, base_url: '127.0.0.1:8080' }] },
    'services[0].base_url is "127.0.0.1:8080": it must start with http:// or https://, like ' +
      'http://127.0.0.1:8080/v1',
  ],
  [
    { services: [{ ...LLM, base_url: 'http://me:secret@x/v1' }] },
    'services[0].base_url is "http://…@x/v1": it must not hold a user name or password',
  ],
  [
    { services: [{ ...LLM, base_url: 'http://x/v1?a=b' }] },
    'services[0].base_url is "http://x/v1?a=b": it must end before "?" and "#"',
  ],
  [{ services: [{ ...LLM, slots: 0 }] }, 'services[0].slots is 0: it must be at least 1'],
  [{ services: [{ ...LLM, slots: 9999 }] }, 'services[0].slots is 9999: it must be at most 1024'],
  [{ services: [{ ...LLM, slots: '4' }] }, 'services[0].slots is "4": it must be a whole number'],
  [{ services: [{ ...LLM, slots: 1.5 }] }, 'services[0].slots is 1.5: it must be a whole number'],
  [
    { services: [{ ...LLM, foreign: 'no' }] },
    'services[0].foreign is "no": it must be true or false',
  ],
  [
    { services: [{ ...LLM, base_ur: 'x' }] },
    'services[0].base_ur is unknown: did you mean base_url?',
  ],
  [
    { services: [{ ...LLM, models: [{ id: 'a', served_nam: 'b' }] }] },
    'services[0].models[0].served_nam is unknown: did you mean served_name?',
  ],
  [
    { services: [{ ...LLM, models: [{}] }] },
    'services[0].models[0].id is missing: it must be a text in quotes',
  ],
  [
    { services: [{ ...LLM, id: 'x'.repeat(300) }] },
    `services[0].id is "${'x'.repeat(79)}…: it must have a length of at most 256`,
  ],
  [
    { services: [LLM, LLM] },
    'services[1].id is "llm-e4a5c9a0" like that of services[0]: remove one of the two, ' +
      'or give it an "id" of its own',
  ],
];

test.each(PROBLEMS.map(([content, message]) => ({ content, message })))(
  'refused: $message',
  ({ content, message }) => {
    expect(parseConfig(content).problems).toEqual([message]);
  },
);
