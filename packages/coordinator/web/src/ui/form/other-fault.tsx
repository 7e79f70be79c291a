import type { Fault } from '../../api/fault.js';
import { FaultText } from '../table/states.js';

/** What is wrong with this field; null if the fault is about something else. */
export function wrongIn(fault: Fault | null, field: string): string | null {
  return fault?.param === field ? fault.message : null;
}

interface OtherFaultProps {
  readonly fault: Fault | null;
  /** Those that say themselves what is wrong with them. */
  readonly fields: readonly string[];
}

/** What stands at no field of the form. */
export function OtherFault({ fault, fields }: OtherFaultProps) {
  return <FaultText fault={fields.includes(fault?.param ?? '') ? null : fault} />;
}
