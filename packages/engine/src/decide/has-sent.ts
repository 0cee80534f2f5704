// Who sent a handoff never decides about it: whoever sent it first, and whoever corrected it since.

interface Sent {
  readonly sentBy: string | null
  readonly earlierSenders: readonly string[]
}

export const hasSent = ({ sentBy, earlierSenders }: Sent, person: string): boolean =>
  sentBy === person || earlierSenders.includes(person)
