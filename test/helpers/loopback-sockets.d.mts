/** @returns a function that allows the connections again, once every caller has called theirs */
export function refuseStrangers(): () => void;
