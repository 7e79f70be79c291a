/** Terminates TLS before a server, as a proxy does; a test can replace its certificate. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { Server } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/**
 * Self-signed, valid from 2020 to 2120: `good` and `exchanged` for localhost, `elsewhere` for
 * gateway.example.org; `expired`, for localhost, ended in 2021.
 */
export type CertificateName = 'good' | 'exchanged' | 'elsewhere' | 'expired';

/** For `NODE_EXTRA_CA_CERTS`, to make a program trust this certificate. */
export function certificateFile(name: CertificateName): string {
  return fileURLToPath(new URL(`certificates/${name}.pem`, import.meta.url));
}

export class TlsFront {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(targetPort: number, name: CertificateName) {
    this.#server = createServer(certificatePair(name), (near) => {
      const far = connect(targetPort, '127.0.0.1');
      near.on('error', () => far.destroy()).pipe(far);
      far.on('error', () => near.destroy()).pipe(near);
      this.#keep(near, far);
    });
  }

  get origin(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    onTestFinished(() => {
      this.cut();
      this.#server.close();
    });
    return this;
  }

  /** New connections get this certificate; open ones are cut. */
  exchange(name: CertificateName): void {
    this.#server.setSecureContext(certificatePair(name));
    this.cut();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #keep(...sockets: readonly Socket[]): void {
    for (const socket of sockets) {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    }
  }
}

/** For a server that presents it. */
export function certificatePair(name: CertificateName): {
  readonly key: Buffer;
  readonly cert: Buffer;
} {
  const pem = readFileSync(certificateFile(name));
  return { key: pem, cert: pem };
}
