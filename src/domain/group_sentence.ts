/** Sentences about groups of people, as reports keep them, and the size of the group that a sentence is about. */

const SIZE = /^Of (\d+) /;

/** "Of 3 operators, 1 is undetermined." `group` begins with the number of its people, in digits. */
export function groupSentence(group: string, told: string): string {
  return `Of ${group}, ${told}`;
}

/** The number of people whom a sentence of {@link groupSentence} is about; null for another sentence. */
export function groupSizeIn(sentence: string): number | null {
  const size = SIZE.exec(sentence)?.[1];
  return size === undefined ? null : Number(size);
}
