// Handoffs of protocol v0.1 in a folder of files: no server, no database, any number of processes.
export type { OfferedHandoff, Status, Validation } from '@baton/protocol/dialects/handoff-v01'
export { openFolder } from './folder-storage.ts'
export { createOffers } from './offers.ts'
export type { OfferList, Offers } from './offers.ts'
export type { ForeignEntry } from './read-offers.ts'
export type { Entry, OfferStorage, StoredText } from './storage.ts'
