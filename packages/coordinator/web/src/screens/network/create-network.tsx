import { my } from '../../api/commands.js';
import { toast } from '../../ui/dialog/toasts.js';
import { NameDialog } from './name-dialog.js';

interface CreateNetworkProps {
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

export function CreateNetwork({ onDone, onClose }: CreateNetworkProps) {
  const create = async (name: string): Promise<void> => {
    await my('network.create', { name });
    toast(`${name} is created. Invite somebody to it.`);
    await onDone();
  };
  return <NameDialog title="New network" verb="Create" onName={create} onClose={onClose} />;
}
