import { ChangePassword } from './change-password.js';
import { Sessions } from './sessions.js';

export function Security() {
  return (
    <>
      <Sessions />
      <ChangePassword />
    </>
  );
}
