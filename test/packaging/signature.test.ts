import { expect, test } from 'vitest';
import { withoutSignature } from '../../packaging/executable.js';

/** Offsets of the format PE32+, https://learn.microsoft.com/windows/win32/debug/pe-format */
const HEADER = 0x80;
const CHECKSUM = HEADER + 24 + 64;
const CERTIFICATE_TABLE = HEADER + 24 + 112 + 4 * 8;
const PROGRAM_BYTES = 1024;

test('the signature at the end goes, with its entry and the checksum', () => {
  const signature = Buffer.from('a signature that Windows would read');
  const bare = withoutSignature(program({ signature, at: PROGRAM_BYTES }));
  expect(bare.length).toBe(PROGRAM_BYTES);
  expect(bare.readBigUInt64LE(CERTIFICATE_TABLE)).toBe(0n);
  expect(bare.readUInt32LE(CHECKSUM)).toBe(0);
});

test('all other bytes stay, and the given program is unchanged', () => {
  const signature = Buffer.from('a signature');
  const given = program({ signature, at: PROGRAM_BYTES });
  const before = Buffer.from(given);
  const bare = withoutSignature(given);
  const changed = [...bare.keys()].filter((index) => bare[index] !== given[index]);
  expect(changed.length).toBeGreaterThan(0);
  expect(changed.filter((index) => !belongsToSignature(index))).toEqual([]);
  expect(given.equals(before)).toBe(true);
});

test('a program without a signature stays as it is', () => {
  const given = program({ signature: Buffer.alloc(0), at: 0 });
  expect(withoutSignature(given)).toBe(given);
});

test('a signature that is not the end is refused: what follows it would be lost', () => {
  const signature = Buffer.from('a signature');
  const given = Buffer.concat([program({ signature, at: PROGRAM_BYTES }), Buffer.from('more')]);
  expect(() => withoutSignature(given)).toThrow('the signature is not the end of node.exe');
});

function belongsToSignature(index: number): boolean {
  const isChecksum = index >= CHECKSUM && index < CHECKSUM + 4;
  return isChecksum || (index >= CERTIFICATE_TABLE && index < CERTIFICATE_TABLE + 8);
}

function program({ signature, at }: { signature: Buffer; at: number }): Buffer {
  const bytes = Buffer.alloc(PROGRAM_BYTES, 7);
  bytes.writeUInt32LE(HEADER, 0x3c);
  bytes.writeUInt32LE(0xabcdef, CHECKSUM);
  bytes.writeUInt32LE(at, CERTIFICATE_TABLE);
  bytes.writeUInt32LE(signature.length, CERTIFICATE_TABLE + 4);
  return Buffer.concat([bytes, signature]);
}
