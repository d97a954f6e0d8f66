// plugin/host/features.ts: the features of a host that environment variables turn on.
import { CHANNELS } from "./channels.js";
import { BUILD_HOOK_URL, type Environment, MENTIONS_TOKEN, valueIn } from "./secrets.js";

/** The features that are off unless their variables are set. */
export const FEATURES: readonly { name: string; needs: readonly string[] }[] = [
  { name: "Private feed of mentions", needs: [MENTIONS_TOKEN] },
  ...CHANNELS.map(({ feature, variables }) => ({ name: feature, needs: variables })),
  { name: "Rebuilds of the site", needs: [BUILD_HOOK_URL] },
];

/** The names of all their variables. */
export const VARIABLES: readonly string[] = FEATURES.flatMap(({ needs }) => needs);

/** @returns a line for each feature that is off, with the variables that turn it on */
export function featuresOff(environment: Environment): string[] {
  return FEATURES.flatMap(({ name, needs }) => {
    const lacking = needs.filter((variable) => valueIn(environment, variable) === undefined);
    return lacking.length > 0 ? [`${name}: off (set ${lacking.join(" and ")} to turn it on)`] : [];
  });
}
