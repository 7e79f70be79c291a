import { describe, expect, test } from 'vitest';
import { PICTURE, startAssetServer } from '../support/asset-server.js';

describe('a range of an asset', () => {
  test.each([
    ['the first bytes', 'bytes=0-99', '0-99'],
    ['one byte', 'bytes=500-500', '500-500'],
    ['the last byte', 'bytes=999-999', '999-999'],
    ['all from a byte on', 'bytes=900-', '900-999'],
    ['a suffix', 'bytes=-10', '990-999'],
    ['a suffix longer than the file', 'bytes=-5000', '0-999'],
    ['an end beyond the file', 'bytes=990-5000', '990-999'],
  ])('of %s is 206 with just those', async (_, range, expected) => {
    const server = await startAssetServer();
    const response = await server.fetch(server.path, { headers: { range } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${expected}/1000`);
    const [from = 0, to = 0] = expected.split('-').map(Number);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes).toEqual(PICTURE.subarray(from, to + 1));
  });

  test.each(['bytes=1000-', 'bytes=5000-6000', 'bytes=-0'])(
    'beyond the end (%s) is 416, which tells the length',
    async (range) => {
      const server = await startAssetServer();
      const response = await server.fetch(server.path, { headers: { range } });
      expect(response.status).toBe(416);
      expect(response.headers.get('content-range')).toBe('bytes */1000');
      expect(response.headers.get('content-type')).toMatch('application/json');
      expect(response.headers.get('content-disposition')).toBeNull();
      const error = { code: 'invalid_value', param: 'Range' };
      expect(await response.json()).toMatchObject({ error });
    },
  );

  test.each(['bytes=0-1,5-6', 'lines=1-2', 'nonsense'])(
    'of a kind that is not offered (%s) is passed over',
    async (range) => {
      const server = await startAssetServer();
      const response = await server.fetch(server.path, { headers: { range } });
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(PICTURE);
    },
  );

  test('is answered whole where If-Range names another version', async () => {
    const server = await startAssetServer();
    const head = await server.fetch(server.path, { method: 'HEAD' });
    const ranged = (version: string): Promise<Response> =>
      server.fetch(server.path, { headers: { range: 'bytes=0-9', 'if-range': version } });
    expect((await ranged(head.headers.get('etag') ?? '')).status).toBe(206);
    expect((await ranged(head.headers.get('last-modified') ?? '')).status).toBe(206);
    expect((await ranged('"another"')).status).toBe(200);
    // A file that is older than the date is another version, too.
    const later = new Date(Date.parse(head.headers.get('last-modified') ?? '') + 60_000);
    expect((await ranged(later.toUTCString())).status).toBe(200);
  });

  // RFC 9110, 14.2: only GET has ranges.
  test('of HEAD is ignored', async () => {
    const server = await startAssetServer();
    const init = { method: 'HEAD', headers: { range: 'bytes=0-9' } };
    const response = await server.fetch(server.path, init);
    expect([response.status, response.headers.get('content-length')]).toEqual([
      200,
      String(PICTURE.length),
    ]);
  });
});
