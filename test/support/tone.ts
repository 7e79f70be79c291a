/** A sound to transcribe, or that was spoken. */

const RATE = 16_000;
const HEADER_BYTES = 44;

/** WAV, 16 bit, mono, 16 kHz. */
export function tone(seconds: number): Buffer {
  const samples = Math.round(seconds * RATE);
  const wav = Buffer.alloc(HEADER_BYTES + samples * 2);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(RATE, 24);
  wav.writeUInt32LE(RATE * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(samples * 2, 40);
  for (let i = 0; i < samples; i++) {
    wav.writeInt16LE(Math.round(8_000 * Math.sin(i / 10)), HEADER_BYTES + i * 2);
  }
  return wav;
}
