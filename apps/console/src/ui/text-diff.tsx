import { lazy, Suspense } from 'react'
import type { ComponentProps } from 'react'
import { Skeleton } from './states.tsx'

/** The difference of two texts. Its editor is loaded when the first one is shown. */
export const LazyTextDiff = lazy(async () => ({
  default: (await import('../editor/text-diff.tsx')).TextDiff,
}))

export const TextDiff = (props: ComponentProps<typeof LazyTextDiff>) => (
  <Suspense fallback={<Skeleton />}>
    <LazyTextDiff {...props} />
  </Suspense>
)
