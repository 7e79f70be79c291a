import { readBearer } from '@inference-gateway/shared/bearer';
import { expect, it } from 'vitest';

it.each([
  ['Bearer gwk_1', 'gwk_1'],
  ['bearer gwk_1', 'gwk_1'],
  ['BEARER   gwk_1 ', 'gwk_1'],
  ['Bearer', null],
  ['Bearer a b', null],
  ['Basic gwk_1', null],
  ['gwk_1', null],
  ['', null],
  [undefined, null],
])('the header %j holds %j', (header, secret) => {
  expect(readBearer(header)).toBe(secret);
});
