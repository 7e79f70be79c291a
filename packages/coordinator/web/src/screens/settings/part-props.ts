/** Props shared by the head of the page and the part below it. */
export interface PartProps {
  readonly onNewKey: () => void;
}
