import type { DocumentSpec, ObjectKind, OrganizationLimits, ProblemCode } from '@remit/contract'
import type { AnyDatabase } from '../db/portable.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import type { Change } from '../ledger/write/work.ts'

/** An object of an organization in the form of a document. */
export interface DocumentObject {
  readonly id: string
  readonly spec: Readonly<Record<string, unknown>>
}

/** A change of an object, in the form of documents; null for no object. */
export interface DocumentChange {
  readonly id: string
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

/** A document that its module accepts. */
export interface AdmittedDocument {
  /** Probable mistakes at a time in milliseconds. */
  readonly warnings: (now: number) => readonly string[]
  /** Creates or replaces the object, with the limits and entries of its endpoint. */
  readonly set: Change<unknown>
}

/** A limit on objects of an organization, with the code of its refusal. */
export interface DocumentLimit<Spec = DocumentSpec<ObjectKind>> {
  readonly code: ProblemCode
  readonly most: number
  /** Returns what an object counts for; the limit holds for each of these by itself. */
  countsFor(spec: Spec): readonly string[]
}

/** A kind of object that a policy set can contain, with the spec of its documents. */
export interface DocumentKind<Spec = DocumentSpec<ObjectKind>> {
  readonly kind: ObjectKind
  /** Returns the id of the object that a document describes. */
  idOf(name: string, spec: Spec): string
  /** Returns the objects with these ids, or all, in any order. */
  list(db: AnyDatabase, orgId: string, ids?: readonly string[]): Promise<readonly DocumentObject[]>
  /** Validates a document; throws the refusal of the endpoint, with paths in the spec. */
  admit(name: string, spec: Spec): AdmittedDocument
  /** Deletes the object; null where objects cannot be deleted, but only leave the set. */
  readonly remove: ((id: string) => Change<unknown>) | null
  /**
   * Takes all objects of an organization as a plan leaves them. Returns the check of one change among them, which throws
   * its refusal with paths in the spec. `set` does not check that again.
   */
  checkAmong?(objects: readonly DocumentObject[]): (change: DocumentChange) => void
  /** Returns the limits that a plan compares the objects with; `set` refuses what is beyond them. */
  limits?(limits: OrganizationLimits): readonly DocumentLimit<Spec>[]
  /** Returns the objects that an entry of a change is about. */
  changesOf(entry: EntryDraft): readonly DocumentChange[]
}
