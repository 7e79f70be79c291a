/** What the head of the page shares with the part below it. */
export interface PartProps {
  readonly onNewKey: () => void;
}
