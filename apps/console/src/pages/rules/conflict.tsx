import { RemitError } from '@remit/contract/client'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Row, Stack } from '../../ui/layout.tsx'
import { Loaded, Note, Skeleton } from '../../ui/states.tsx'

const TextDiff = lazy(async () => ({
  default: (await import('../../editor/text-diff.tsx')).TextDiff,
}))

/** Returns whether the server refused a change because the stored version is another one. */
export const isOutdated = (error: unknown): boolean =>
  error instanceof RemitError && error.status === 412

interface ConflictProps<Stored> {
  readonly id: string
  /** Reads the version that is stored now. */
  readonly read: () => Promise<Stored>
  /** The stored version and the draft, as texts that compare well. */
  readonly textOf: (stored: Stored) => string
  readonly mine: string
  readonly onTheirs: (stored: Stored) => void
  readonly onMine: (stored: Stored) => void
}

/** Somebody else was faster: both versions are shown, and the typed text stays until its author decides. */
export function Conflict<Stored>(props: ConflictProps<Stored>) {
  const { id, read, textOf, mine, onTheirs, onMine } = props
  const query = useQuery({ queryKey: ['conflict', id], queryFn: read, gcTime: 0, staleTime: 0 })
  return (
    <Stack>
      <Note tone="wait">
        <span role="alert">{t.policies.conflict}</span>
      </Note>
      <Loaded query={query}>
        {(theirs) => (
          // Together: the difference would move the buttons.
          <Suspense fallback={<Skeleton />}>
            <Stack>
              <div>
                <h3>{t.policies.conflictDifference}</h3>
                <TextDiff
                  label={t.policies.conflictDifference}
                  before={textOf(theirs)}
                  after={mine}
                />
              </div>
              <Row>
                <Button onClick={() => onTheirs(theirs)}>{t.policies.showTheirs}</Button>
                <Button onClick={() => onMine(theirs)}>{t.policies.keepMine}</Button>
              </Row>
            </Stack>
          </Suspense>
        )}
      </Loaded>
    </Stack>
  )
}
