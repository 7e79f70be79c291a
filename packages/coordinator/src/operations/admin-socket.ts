/**
 * The socket in the data folder through which the command line calls the running coordinator.
 */
import { localSocketPath, serveLocal } from '@inference-gateway/shared/program/local-socket';
import type { AdminParts } from './operation.js';
import { runAdmin } from './operations.js';

export interface AdminServer {
  /** Lets current calls finish. */
  close(): Promise<void>;
}

/** Requires the lock of the folder. */
export async function serveAdmin(dataDir: string, context: AdminParts): Promise<AdminServer> {
  const server = await serveLocal(adminSocketPath(dataDir), (call) => runAdmin(context, call));
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

export function adminSocketPath(dataDir: string): string {
  return localSocketPath(dataDir, 'admin');
}
