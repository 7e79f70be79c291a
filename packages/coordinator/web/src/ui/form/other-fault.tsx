import type { Fault } from '../../api/fault.js';
import { FaultText } from '../table/states.js';

/** The error of this field; null if the error is about something else. */
export function wrongIn(fault: Fault | null, field: string): string | null {
  return fault?.param === field ? fault.message : null;
}

interface OtherFaultProps {
  readonly fault: Fault | null;
  /** Fields that show their own errors. */
  readonly fields: readonly string[];
}

/** Shows an error that belongs to none of these fields. */
export function OtherFault({ fault, fields }: OtherFaultProps) {
  return <FaultText fault={fields.includes(fault?.param ?? '') ? null : fault} />;
}
